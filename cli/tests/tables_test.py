"""Real-world tables, including odd and hostile ones: how each file is read, and the messages about it.

The points in each valid file are known. With k = 1, the objective is the sum of squares about their mean, which is compared with NumPy's.
"""

import csv
import gzip
import io
import json
import os
import re
import struct
import subprocess
import xml.dom.minidom

import numpy as np
import pytest

from support import COMMAND, document, run, texts

A = [[1, 2], [3, 4], [5, 7]]  # the points in most files below
NAMED = "x,y\n1,2\n3,4\n5,7\n"
MANY = "".join(f"{i * i % 7},{i % 3}\n" for i in range(40))


def rows(*more):
    return list(more)


# name: (file, content, options, points, texts of the messages; []: no message)
TAKEN = {
    # separators
    "comma": ("a.csv", "1,2\n3,4\n5,7\n", [], A, []),
    "comma and blanks": ("a.csv", "1, 2\n3 ,4\n 5 , 7 \n", [], A, []),
    "semicolon": ("a.csv", "1;2\n3;4\n5;7\n", [], A, ["separated by ;"]),
    "semicolon with names": ("a.csv", "x;y\n1;2\n3;4\n5;7\n", [], A, ["separated by ;"]),
    "tab in csv": ("a.csv", "1\t2\n3\t4\n5\t7\n", [], A, ["separated by a tab"]),
    "tsv": ("a.tsv", "x\ty\n1\t2\n3\t4\n5\t7\n", [], A, []),
    "pipe": ("a.csv", "x|y\n1|2\n3|4\n5|7\n", [], A, ["separated by |"]),
    "blanks": ("a.txt", "1 2\n3 4\n5 7\n", [], A, ["separated by blanks"]),
    "runs of blanks": ("a.txt", "  1    2\n3  4\n5 7   \n", [], A, ["separated by blanks"]),
    "blanks and tabs": ("a.dat", "1 \t2\n3\t 4\n5 7\n", [], A, ["separated by blanks"]),
    "colon by option": ("a.csv", "1:2\n3:4\n5:7\n", ["--separator", ":"], A, []),
    "semicolon by option": ("a.csv", "1;2\n3;4\n5;7\n", ["--separator", ";"], A, []),
    "semicolon by name": ("a.csv", "1;2\n3;4\n5;7\n", ["--separator", "semicolon"], A, []),
    "tab by name": ("a.csv", "1\t2\n3\t4\n5\t7\n", ["--separator", "tab"], A, []),
    "tab by backslash": ("a.csv", "1\t2\n3\t4\n5\t7\n", ["--separator", "\\t"], A, []),
    "blanks by name": ("a.csv", "1 2\n3 4\n5 7\n", ["--separator", "blanks"], A, []),
    "pipe by name": ("a.csv", "1|2\n3|4\n5|7\n", ["--separator", "pipe"], A, []),
    "sep line": ("a.csv", "sep=;\n1;2\n3;4\n5;7\n", [], A, ["sep=;"]),
    "sep line of a comma": ("a.csv", "sep=,\nx,y\n1,2\n3,4\n5,7\n", [], A, ["sep=,"]),
    "sep line in quotes": ("a.csv", '"sep=;"\r\n1;2\r\n3;4\r\n5;7\r\n', [], A, ["sep=;"]),
    "sep line in capitals": ("a.csv", "SEP=;\n1;2\n3;4\n5;7\n", [], A, ["sep=;"]),
    "sep line of a tab": ("a.csv", "sep=\t\n1\t2\n3\t4\n5\t7\n", [], A, ["sep=a tab"]),
    "one column": ("a.csv", "1\n3\n5\n", [], [[1], [3], [5]], []),
    "one column with a name of two words": ("a.csv", "sepal length\n1.5\n2.5\n4\n", [], [[1.5], [2.5], [4]], []),
    "one row": ("a.csv", "1,2,3\n", [], [[1, 2, 3]], []),
    "quoted numbers": ("a.csv", '"1","2"\n"3","4"\n"5","7"\n', [], A, []),
    "quotes and blanks": ("a.csv", '"1" , "2"\n"3", "4"\n"5","7"\n', [], A, []),
    "newline in a name": ("a.csv", '"x\n(cm)",y\n1,2\n3,4\n5,7\n', [], A, []),
    "separator in a name": ("a.csv", '"x, cm",y\n1,2\n3,4\n5,7\n', [], A, []),
    "semicolon in quotes": ("a.csv", '"x;1",y\n1,2\n3,4\n5,7\n', [], A, []),
    # decimal signs
    "decimal comma": ("a.csv", "x;y\n1,5;2\n3,5;4\n", [], [[1.5, 2], [3.5, 4]], ["separated by ;", "decimal commas"]),
    "decimal comma in every field": ("a.csv", "1,5;2,5\n3,5;4,5\n", [], [[1.5, 2.5], [3.5, 4.5]], ["separated by ;", "decimal commas"]),
    "decimal comma with tabs": ("a.tsv", "1,5\t2\n3,25\t4\n", [], [[1.5, 2], [3.25, 4]], ["decimal commas"]),
    "decimal comma with blanks": ("a.txt", "1,5 2\n3,25 4\n", [], [[1.5, 2], [3.25, 4]], ["decimal commas"]),
    "decimal comma in quotes": ("a.csv", '"1,5","2"\n"3,25","4"\n', [], [[1.5, 2], [3.25, 4]], ["decimal commas"]),
    "decimal comma with an exponent": ("a.csv", "1,5e1;2\n2,5E0;4\n", [], [[15, 2], [2.5, 4]], ["decimal commas"]),
    "negative decimal comma": ("a.csv", "-1,5;+2,5\n-3,5;4\n", [], [[-1.5, 2.5], [-3.5, 4]], ["decimal commas"]),
    "comma before three digits after a zero": ("a.csv", "0,125;2\n0,250;4\n", [], [[0.125, 2], [0.25, 4]], ["decimal commas"]),
    "decimal comma by option": ("a.csv", "1,500;2\n3,250;4\n", ["--decimal", "comma"], [[1.5, 2], [3.25, 4]], ["separated by ;"]),
    "decimal point by option": ("a.csv", "1.5;2\n3.25;4\n", ["--decimal", "point"], [[1.5, 2], [3.25, 4]], ["separated by ;"]),
    "decimal point with semicolons": ("a.csv", "1.5;2\n3.25;4\n", [], [[1.5, 2], [3.25, 4]], ["separated by ;"]),
    "decimal comma late": ("a.csv", "x;y\n" + "1;2\n" * 50 + "1,5;2\n", [], [[1, 2]] * 50 + [[1.5, 2]], ["decimal commas"]),
    # comment lines
    "comments above": ("a.csv", "# made by a machine\n# at night\n1,2\n3,4\n5,7\n", [], A, ["2 comment lines"]),
    "one comment": ("a.csv", "# made by a machine\nx,y\n1,2\n3,4\n5,7\n", [], A, ["1 comment line at the start skipped"]),
    "comments between rows": ("a.csv", "# top\n1,2\n# a pause, and more\n3,4\n5,7\n# end\n", [], A, ["1 comment line at the start skipped"]),
    "names in a comment": ("a.csv", "# x, y\n1,2\n3,4\n5,7\n", [], A, ["1 comment line", "taken as the names of the columns"]),
    "numpy's savetxt": ("a.txt", "# x y\n1.0e+00 2.0e+00\n3.0e+00 4.0e+00\n5.0e+00 7.0e+00\n", [], A, ["taken as the names of the columns"]),
    "empty lines": ("a.csv", "\n\n1,2\n\n3,4\n   \n5,7\n\n\n", [], A, []),
    # characters and line ends
    "utf-8 mark": ("a.csv", b"\xef\xbb\xbfx,y\n1,2\n3,4\n5,7\n", [], A, []),
    "utf-8 mark without names": ("a.csv", b"\xef\xbb\xbf1,2\n3,4\n5,7\n", [], A, []),
    "windows line ends": ("a.csv", "x,y\r\n1,2\r\n3,4\r\n5,7\r\n", [], A, []),
    "mixed line ends": ("a.csv", "x,y\r\n1,2\n3,4\r\n5,7", [], A, []),
    "no last line end": ("a.csv", "1,2\n3,4\n5,7", [], A, []),
    "old mac line ends": ("a.csv", "x,y\r1,2\r3,4\r5,7\r", [], A, ["old Mac line ends"]),
    "latin-1 name": ("a.csv", "größe,y\n1,2\n3,4\n5,7\n".encode("latin-1"), [], A, ["Latin-1"]),
    "windows-1252 name": ("a.csv", "price in €,y\n1,2\n3,4\n5,7\n".encode("cp1252"), [], A, ["Windows-1252"]),
    "utf-8 name": ("a.csv", "größe,y\n1,2\n3,4\n5,7\n".encode(), [], A, []),
    "utf-16 little": ("a.csv", NAMED.encode("utf-16-le"), [], A, ["UTF-16"]),
    "utf-16 with a mark": ("a.csv", b"\xff\xfe" + NAMED.encode("utf-16-le"), [], A, ["UTF-16"]),
    "utf-16 big": ("a.csv", b"\xfe\xff" + NAMED.encode("utf-16-be"), [], A, ["UTF-16"]),
    "excel's unicode text": ("a.txt", b"\xff\xfe" + NAMED.replace(",", "\t").replace("\n", "\r\n").encode("utf-16-le"), [], A, ["UTF-16", "a tab"]),
    "gzip": ("a.csv.gz", gzip.compress(NAMED.encode()), [], A, []),
    "gzip without the name": ("a.csv", gzip.compress(NAMED.encode()), [], A, []),
    # names of columns
    "names": ("a.csv", NAMED, [], A, []),
    "names in quotes": ("a.csv", '"x","y"\n1,2\n3,4\n5,7\n', [], A, []),
    "names of numbers and words": ("a.csv", "x1,2y\n1,2\n3,4\n5,7\n", [], A, ["taken as the names"]),
    "pandas' numbers": ("a.csv", "0,1,2,3\n1.5,2,3,4\n2,3,4,7\n3,1,1,1\n", [], [[1.5, 2, 3, 4], [2, 3, 4, 7], [3, 1, 1, 1]], ["0, 1, 2, 3", "taken as the names"]),
    "pandas' three numbers over fractions": ("a.csv", "0,1,2\n1.5,2.5,3.5\n2.5,3.5,4.5\n", [], [[1.5, 2.5, 3.5], [2.5, 3.5, 4.5]], ["taken as the names"]),
    "pandas' index and numbers": ("a.csv", ",0,1\n0,1.5,2\n1,2,3\n", [], [[1.5, 2], [2, 3]], ["taken as the names", "no name"]),
    "pandas' index and one number": ("a.csv", ",0\n0,1.5\n1,2\n2,7\n", [], [[1.5], [2], [7]], ["taken as the names", "no name"]),
    "index without a name": ("a.csv", ",x,y\n0,1,2\n1,3,4\n2,5,7\n", [], A, ["column 1: the column has no name"]),
    "index of words": ("a.csv", ",x,y\nann,1,2\nbob,3,4\ncid,5,7\n", [], A, ["column 1: the column has no name"]),
    "unnamed: 0": ("a.csv", "Unnamed: 0,x,y\n0,1,2\n1,3,4\n2,5,7\n", [], A, ["column 'Unnamed: 0'", "is taken as row names"]),
    "index taken by option": ("a.csv", ",x\n0,1\n1,3\n2,5\n", ["--columns", "1-2"], [[0, 1], [1, 3], [2, 5]], []),
    "r's row names": ("a.txt", '"x" "y"\n"1" 1 2\n"2" 3 4\n"3" 5 7\n', [], A, ["column 1: the column has no name"]),
    "r's csv": ("a.csv", '"","x","y"\n"1",1,2\n"2",3,4\n"3",5,7\n', [], A, ["column 1: the column has no name"]),
    "years": ("a.csv", "2019,2020,2021,2022\n1,2,3,4\n2,3,4,7\n3,1,1,1\n", [], [[1, 2, 3, 4], [2, 3, 4, 7], [3, 1, 1, 1]], ["2019", "taken as the names"]),
    "country and years": ("a.csv", "country,2019,2020\nfrance,1,2\nspain,3,4\nitaly,5,7\n", ["--columns", "2-3"], A, ["taken as the names"]),
    "id and numbers": ("a.csv", "id,0,1\n5,1,2\n6,3,4\n9,5,7\n", ["--exclude", "id"], A, []),
    "header by option": ("a.csv", "9,9\n1,2\n3,4\n5,7\n", ["--header", "yes"], A, []),
    "no header by option": ("a.csv", "0,1,2,3\n1,2,3,4\n2,3,4,7\n", ["--header", "no"], [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 7]], []),
    "rows of consecutive numbers": ("a.csv", "0,1,2,3\n4,5,6,7\n0,1,2,3\n", [], [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 2, 3]], []),
    "zeros and ones": ("a.csv", "0,1\n1,0\n0,1\n1,1\n", [], [[0, 1], [1, 0], [0, 1], [1, 1]], []),
    "no names": ("a.csv", "1,2\n3,4\n5,7\n", ["--header", "no"], A, []),
    # columns
    "columns by name": ("a.csv", "x,z,y\n1,9,2\n3,9,4\n5,9,7\n", ["--columns", "x,y"], A, []),
    "columns by number": ("a.csv", "x,z,y\n1,9,2\n3,9,4\n5,9,7\n", ["--columns", "1,3"], A, []),
    "columns by range": ("a.csv", "x,y,z\n1,2,9\n3,4,9\n5,7,9\n", ["--columns", "1-2"], A, []),
    "column with a comma": ("a.csv", '"x, cm",z,y\n1,9,2\n3,9,4\n5,9,7\n', ["--columns", '"x, cm",y'], A, []),
    "numeric columns": ("a.csv", "name,x,y\nann,1,2\nbob,3,4\ncid,5,7\n", ["--columns", "numeric"], A, ["column 1 (name) holds words and is not used"]),
    "numeric columns but one": ("a.csv", "name,x,z,y\nann,1,9,2\nbob,3,9,4\ncid,5,9,7\n", ["--columns", "numeric", "--exclude", "z"], A, ["name"]),
    "numeric with missing ones": ("a.csv", "name,x,y\nann,1,2\nbob,,4\ncid,5,7\n", ["--columns", "numeric", "--missing", "drop"], [[1, 2], [5, 7]], ["name", "1 row of 3 has a missing value"]),
    "a column called numeric": ("a.csv", "numeric,y\n1,2\n3,4\n5,7\n", ["--columns", "numeric"], [[1], [3], [5]], []),
    "exclude by name": ("a.csv", "x,z,y\n1,9,2\n3,9,4\n5,9,7\n", ["--exclude", "z"], A, []),
    "exclude by number": ("a.csv", "x,z,y\n1,9,2\n3,9,4\n5,9,7\n", ["--exclude", "2"], A, []),
    "exclude the last": ("a.csv", "x,y,z\n1,2,oak\n3,4,ash\n5,7,elm\n", ["--exclude", "-1"], A, []),
    "exclude a range": ("a.csv", "a,b,x,y\nq,r,1,2\ns,t,3,4\nu,v,5,7\n", ["--exclude", "1-2"], A, []),
    "exclude a name with a comma": ("a.csv", 'x,y,"z, cm"\n1,2,9\n3,4,9\n5,7,9\n', ["--exclude", '"z, cm"'], A, []),
    "id column": ("a.csv", "name,x,y\nann,1,2\nbob,3,4\ncid,5,7\n", ["--id-column", "name"], A, []),
    "id column by number": ("a.csv", "name,x,y\nann,1,2\nbob,3,4\ncid,5,7\n", ["--id-column", "1"], A, []),
    "label and id": ("a.csv", "name,x,y,kind\nann,1,2,a\nbob,3,4,b\ncid,5,7,a\n", ["--id-column", "name", "--label-column", "kind"], A, []),
    "column of row numbers": ("a.csv", "n,x\n" + "".join(f"{i},{i * i % 7}\n" for i in range(1, 41)), [], [[i, i * i % 7] for i in range(1, 41)], ["column 'n': this column numbers the rows", "--exclude n", "--id-column n"]),
    "column of row numbers, without names": ("a.csv", "".join(f"{i},{i * i % 7}\n" for i in range(1, 41)), [], [[i, i * i % 7] for i in range(1, 41)], ["column 1: this column numbers the rows", "--exclude 1"]),
    "constant column": ("a.csv", "x,y,z\n1,2,9\n3,4,9\n5,7,9\n", [], [[1, 2, 9], [3, 4, 9], [5, 7, 9]], ["column 3 (z) has the same value in every row", "--exclude"]),
    "a column of large numbers": ("a.csv", "age,income\n31,52000\n45,31000\n27,78000\n50,44000\n", [], [[31, 52000], [45, 31000], [27, 78000], [50, 44000]], ["column 'income': this column holds", "--scale zscore"]),
    "columns of an array": ("a.npy", np.array([[9, 1, 2], [8, 3, 4], [6, 5, 7]]), ["--columns", "2-3"], A, []),
    "columns of an array in another order": ("a.npy", np.array([[2, 9, 1], [4, 8, 3], [7, 6, 5]]), ["--columns", "3,1"], A, []),
    "array with an excluded column": ("a.npy", np.array([[1, 9, 2], [3, 8, 4], [5, 6, 7]]), ["--exclude", "-2"], A, []),
    "blank label": ("a.csv", "x,y,kind\n1,2,a\n3,4,\n5,7,b\n", ["--label-column", "kind"], A, ["1 of 3 rows has no truth"]),
    # missing values
    "drop": ("a.csv", "x,y\n1,2\n9,\n3,4\n5,7\n", ["--missing", "drop"], A, ["1 row of 4 has a missing value"]),
    "drop NA": ("a.csv", "x,y\n1,2\n9,NA\n3,4\nNaN,3\n5,7\n", ["--missing", "drop"], A, ["2 rows of 5 have missing values"]),
    "drop other words": ("a.csv", "x,y\n1,2\n9,null\n3,4\n?,3\n-,1\n5,7\n", ["--missing", "drop"], A, ["3 rows of 6"]),
    "mean": ("a.csv", "x,y\n1,2\n3,\n5,7\n", ["--missing", "mean"], [[1, 2], [3, 4.5], [5, 7]], ["replaced by the mean of the training data", "column 2 (y): 1"]),
    "median": ("a.csv", "x,y\n1,2\n3,\n5,9\n7,3\n", ["--missing", "median"], [[1, 2], [3, 3], [5, 9], [7, 3]], ["replaced by the median of the training data"]),
    "median of an even number": ("a.csv", "x,y\n1,2\n3,\n5,9\n", ["--missing", "median"], [[1, 2], [3, 5.5], [5, 9]], ["median"]),
    "median of negative ones": ("a.csv", "x,y\n1,-2.5\n3,\n5,-9\n2,4\n", ["--missing", "median"], [[1, -2.5], [3, -2.5], [5, -9], [2, 4]], ["median"]),
    "nothing is missing": ("a.csv", NAMED, ["--missing", "mean"], A, []),
    "missing in the first row": ("a.csv", "x,y\n,2\n3,4\n5,7\n", ["--missing", "mean"], [[4, 2], [3, 4], [5, 7]], ["mean"]),
    "quoted and empty": ("a.csv", 'x,y\n1,2\n9,""\n3,4\n5,7\n', ["--missing", "drop"], A, ["1 row of 4"]),
    "missing and decimal commas": ("a.csv", "x;y\n1,5;2\n;4\n3,5;NA\n", ["--missing", "mean"], [[1.5, 2], [2.5, 4], [3.5, 3]], ["mean", "decimal commas"]),
    "missing next to the label": ("a.csv", "x,y,kind\n1,2,a\n,3,b\n3,4,a\n5,7,b\n", ["--missing", "drop", "--label-column", "kind"], A, ["1 row of 4"]),
    "npy with NaN": ("a.npy", np.array([[1, 2], [np.nan, 3], [3, 4], [5, 7]]), ["--missing", "drop"], A, ["1 row of 4"]),
    "npy filled in": ("a.npy", np.array([[1, 2], [np.nan, 3], [3, 4]]), ["--missing", "mean"], [[1, 2], [2, 3], [3, 4]], ["mean"]),
    # words and dates
    "one-hot": ("a.csv", "x,c\n1,red\n2,blue\n4,red\n", ["--categorical", "one-hot"], [[1, 0, 0.5**0.5], [2, 0.5**0.5, 0], [4, 0, 0.5**0.5]], []),
    "one-hot of three": ("a.csv", "c,x\nr,0\ng,1\nb,1\n", ["--categorical", "one-hot"], np.hstack([np.eye(3) * 0.5**0.5, [[0], [1], [1]]]), []),
    "words dropped": ("a.csv", "x,c,y\n1,red,2\n3,blue,4\n5,red,7\n", ["--categorical", "drop"], A, ["column 2 (c) holds words and is not used"]),
    "words in quotes": ("a.csv", 'x,c\n1,"dark ""red"""\n2,blue\n4,"dark ""red"""\n', ["--categorical", "one-hot"], [[1, 0, 0.5**0.5], [2, 0.5**0.5, 0], [4, 0, 0.5**0.5]], []),
    "a missing word": ("a.csv", "x,c\n1,red\n2,\n4,red\n5,blue\n", ["--categorical", "one-hot", "--missing", "mean"], [[1, 0, 0.5**0.5], [2, 0, 0.5**0.5], [4, 0, 0.5**0.5], [5, 0.5**0.5, 0]], ["column 2 (c): 1"]),
    "rows with a missing word": ("a.csv", "x,c\n1,red\n2,\n4,red\n5,blue\n", ["--categorical", "one-hot", "--missing", "drop"], [[1, 0, 0.5**0.5], [4, 0, 0.5**0.5], [5, 0.5**0.5, 0]], ["1 row of 4"]),
    "words and numbers in a column": ("a.csv", "x,c\n1,A1\n2,12\n4,A1\n5,B\n", ["--categorical", "one-hot", "--exclude", "x"], np.array([[0, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]) * 0.5**0.5, []),
    "words scaled to a range": ("a.csv", "x,c\n1,red\n2,blue\n5,red\n", ["--categorical", "one-hot", "--scale", "minmax"], [[0, 0, 0.5**0.5], [0.25, 0.5**0.5, 0], [1, 0, 0.5**0.5]], []),
    "dates": ("a.csv", "d,y\n2026-01-01,2\n2026-01-03,4\n2026-02-01,7\n", ["--dates"], [[0, 2], [2, 4], [31, 7]], []),
    "dates with points": ("a.csv", "d,y\n01.01.2026,2\n03.01.2026,4\n01.02.2026,7\n", ["--dates"], [[0, 2], [2, 4], [31, 7]], []),
    "dates with times": ("a.csv", "d,y\n2026-01-01 12:00,2\n2026-01-02T00:00:00Z,4\n2026-01-03,7\n", ["--dates"], [[0.5, 2], [1, 4], [2, 7]], []),
    "no dates": ("a.csv", NAMED, ["--dates"], A, []),
    "numbers only": ("a.csv", NAMED, ["--categorical", "one-hot"], A, []),
    # hostile but valid
    "signs and exponents": ("a.csv", "+1,2.\n3.0e0,.4e1\n5E0,7\n", [], A, []),
    "a very long number": ("a.csv", "1." + "0" * 5000 + ",2\n3,4\n5,7\n", [], A, []),
    "a very long name": ("a.csv", "x" * 100000 + ",y\n1,2\n3,4\n5,7\n", [], A, []),
    "name with markup characters": ("a.csv", "<b>&\"x\"</b>,y\n1,2\n3,4\n5,7\n", [], A, []),
    "a thousand columns": ("a.csv", ",".join(str(i % 13) for i in range(1000)) + "\n" + ",".join("2" * 1000) + "\n", ["--header", "no"], [[i % 13 for i in range(1000)], [2] * 1000], []),
    "two names alike": ("a.csv", "x,x\n1,2\n3,4\n5,7\n", [], A, []),
    "an empty name in the middle": ("a.csv", "x,,y\n1,9,2\n3,8,4\n5,7,7\n", [], [[1, 9, 2], [3, 8, 4], [5, 7, 7]], []),
}

# name: (file, content, options, texts of the message); exit code 3
REFUSED = {
    "thousands": ("a.csv", "x;y\n1,234;2\n3,456;4\n", [], ["1,234", "--decimal comma", "thousands"]),
    "thousands and a point": ("a.csv", 'x;y\n"1,234.5";2\n3;4\n', [], ["1,234.5", "Remove the thousands separator"]),
    "german thousands": ("a.csv", "x;y\n1.234,5;2\n3,5;4\n", [], ["1.234,5", "Remove the thousands separator"]),
    "swiss thousands": ("a.csv", "x,y\n1'234,2\n3,4\n", [], ["1'234", "thousands"]),
    "thousands with blanks": ("a.csv", "1 000,2\n3,4\n5,7\n", [], ["line 1", "1 000", "thousands"]),
    "both decimal signs": ("a.csv", "x;y\n1,5;2\n1.5;4\n", [], ["line 2", "'1,5' is not a number", "--decimal comma"]),
    "decimal point among decimal commas": ("a.csv", "x;y\n1,5;2\n1.5;4\n", ["--decimal", "comma"], ["line 3", "'1.5' is not a number", "--decimal point"]),
    "percent": ("a.csv", "x,y\n10%,2\n3,4\n", [], ["10%", "Remove the unit"]),
    "currency": ("a.csv", "x,y\n$10,2\n3,4\n", [], ["$10", "Remove the unit"]),
    "word in the first row": ("a.csv", "1,oops\n2,3\n4,5\n", [], ["line 1", "oops", "--header yes"]),
    "number with a letter in the first row": ("a.csv", "12a,2\n2,3\n4,5\n", [], ["line 1", "12a", "--header yes"]),
    "word in a late row": ("a.csv", "x,y\n" + "1,2\n" * 30 + "3,oak\n", [], ["column 'y', line 32: 'oak'"]),
    "one word among numbers, one-hot": ("a.csv", "x,y\n" + "1,2\n" * 30 + "3,oak\n", ["--categorical", "one-hot"], ["line 32", "oak"]),
    "first row of 2 integers, names or data": ("a.csv", "0,1\n5,7\n8,3\n", [], ["0, 1", "--header yes", "--header no"]),
    "first row of 3 integers, names or data": ("a.csv", "0,1,2\n5,7,8\n8,3,9\n", [], ["0, 1, 2", "--header"]),
    "first row of years, names or data": ("a.csv", "2019,2020\n5,7\n8,3\n", [], ["2019, 2020", "--header"]),
    "words": ("a.csv", "name,x\nann,1\nbob,2\n", [], ["column 'name'", "ann", "--columns numeric", "--exclude name", "--categorical one-hot"]),
    "only words": ("a.csv", "name,city\nann,rome\nbob,paris\ncid,oslo\n", ["--columns", "numeric"], ["no column of numbers"]),
    "free text as a category": ("a.csv", "name,x\n" + "".join(f"person {i},{i % 5}\n" for i in range(60)), ["--categorical", "one-hot"], ["60 different values", "--exclude name", "--id-column name"]),
    "missing": ("a.csv", "age,size\n1,2\n,4\n5,\n6,NA\n", [], ["column 'age', line 3", "3 missing values", "2 (size): 2", "--missing drop", "--missing mean", "--missing median"]),
    "missing by a word": ("a.csv", "age,size\n1,2\nNA,4\n", [], ["line 3", "'NA'", "1 missing value", "--missing drop"]),
    "missing by a sign": ("a.csv", "age,size\n1,2\n?,4\n", [], ["line 3", "'?'", "missing"]),
    "missing by a dash": ("a.csv", "age,size\n1,2\n-,4\n", [], ["line 3", "'-'", "missing"]),
    "missing by null": ("a.csv", "age,size\n1,2\nNULL,4\n", [], ["line 3", "'NULL'", "missing"]),
    "everything is missing": ("a.csv", "x,y\n1,\n2,\n", ["--missing", "mean"], ["column 'y'", "no value", "--exclude"]),
    "missing value in every row": ("a.csv", "x,y\n1,\n,2\n", ["--missing", "drop"], ["every row has a missing value"]),
    "npy with a missing value": ("a.npy", np.array([[1, 2], [np.nan, 3]]), [], ["row 2", "column 1"]),
    "infinity": ("a.csv", "x,y\n1,2\ninf,4\n", [], ["line 3", "'inf' is not a finite number"]),
    "infinity with missing": ("a.csv", "x,y\n1,2\n-Infinity,4\n", ["--missing", "drop"], ["line 3", "'-Infinity' is not a finite number"]),
    "dates without option": ("a.csv", "d,y\n2026-01-01,2\n2026-01-03,4\n", [], ["2026-01-01", "--dates"]),
    "invalid date": ("a.csv", "d,y\n2026-01-01,2\n2026-01-02,1\n2026-02-30,4\n", ["--dates"], ["2026-02-30", "not a date"]),
    "american dates": ("a.csv", "d,y\n01/02/2026,2\n01/31/2026,4\n", ["--dates"], ["01/02/2026"]),
    "only comments": ("a.csv", "# nothing\n# at all\n", [], ["every line begins with #"]),
    "ids with a hash": ("a.csv", "#1,2\n#2,3\n", [], ["every line begins with #"]),
    "empty file": ("a.csv", "", [], ["empty"]),
    "only blank lines": ("a.csv", "\n \n\t\n", [], ["empty"]),
    "only a byte order mark": ("a.csv", b"\xef\xbb\xbf", [], ["empty"]),
    "only names": ("a.csv", "x,y\n", [], ["no rows below"]),
    "only a sep line": ("a.csv", "sep=;\n", [], ["no rows"]),
    "zero bytes": ("a.csv", b"1,2\n\x00\x00\x00,4\n", [], ["zero bytes"]),
    "an odd number of utf-16 bytes": ("a.csv", b"\xff\xfe" + NAMED.encode("utf-16-le") + b"\x31", [], ["UTF-16"]),
    "ragged": ("a.csv", "1,2\n3,4,5\n6,7\n", [], ["line 2: 3 fields, but the first row has 2"]),
    "a short row": ("a.csv", "x,y\n1,2\n3\n", [], ["line 3: 1 field, but the first row has 2"]),
    "a quote that never ends": ("a.csv", 'x,y\n1,"2\n3,4\n', [], ["line 2", "never ends"]),
    "text after a closing quote": ("a.csv", 'x,y\n1,"2"3\n3,4\n', [], ["line 2", "closing quote"]),
    "too large": ("a.csv", "x,y\n1,2\n1e999,4\n", [], ["line 3", "1e999", "too large"]),
    "too large to square": ("a.csv", "# measured\nx,y\n1,2\n\n3,4\n5,-1e120\n", [], ["column 'y', line 6: -1e+120 is so large"]),
    "too large to square in single precision": ("a.csv", "x,y\n1,2\n1e30,4\n", ["--precision", "float32"], ["column 'x', line 3", "float64"]),
    "labels that are all blank": ("a.csv", "x,y,kind\n1,2,\n3,4,\n", ["--label-column", "kind"], ["blank in every row"]),
    "hexadecimal": ("a.csv", "x,y\n1,2\n0x10,4\n", [], ["line 3", "0x10"]),
    "a formula": ("a.csv", "x,y\n1,2\n=1+1,4\n", [], ["line 3", "=1+1"]),
    "a page of the web": ("a.csv", "<!DOCTYPE html>\n<html><body>no, not found</body></html>\n", [], ["a.csv"]),
    "json": ("a.csv", '{"x": [1, 2], "y": [3, 4]}\n', [], ["a.csv"]),
    "parquet": ("a.parquet", b"PAR1" + b"\0" * 40, [], ["parquet", "to_csv"]),
    "parquet by another name": ("a.csv", b"PAR1" + b"\1" * 40, [], ["Parquet", "to_csv"]),
    "a damaged feather": ("a.feather", b"ARROW1\0\0" + b"\1" * 40, [], ["a.feather", "damaged", "end is missing"]),
    "an old feather": ("a.feather", b"FEA1" + b"\1" * 40, [], ["version 1", "to_csv"]),
    "text file named arrow": ("a.arrow", "x,y\n1,2\n", [], ["a.arrow", "not an Arrow file"]),
    "not an Arrow stream": ("a.arrows", b"\xff\xff\xff\xff\x10\0\0\0" + b"\1" * 40, [], ["a.arrows", "damaged"]),
    "excel": ("a.xlsx", b"PK\3\4" + b"\1" * 40, [], ["xlsx", "to_csv"]),
    "excel by another name": ("a.csv", b"PK\3\4" + b"\1" * 40, [], ["to_csv"]),
    "old excel": ("a.xls", b"\xd0\xcf\x11\xe0" + b"\1" * 40, [], ["xls", "to_csv"]),
    "open document": ("a.ods", b"PK\3\4" + b"\1" * 40, [], ["ods", "to_csv"]),
    "zip": ("a.csv.zip", b"PK\3\4" + b"\1" * 40, [], ["unzip"]),
    "bzip2": ("a.csv.bz2", b"BZh91AY" + b"\1" * 40, [], ["bunzip2"]),
    "bzip2 by another name": ("a.csv", b"BZh91AY" + b"\1" * 40, [], ["bunzip2"]),
    "xz": ("a.csv.xz", b"\xfd7zXZ\0" + b"\1" * 40, [], ["unxz"]),
    "zstandard": ("a.csv.zst", b"\x28\xb5\x2f\xfd" + b"\1" * 40, [], ["unzstd"]),
    "7z": ("a.csv.7z", b"7z\xbc\xaf\x27\x1c" + b"\1" * 40, [], ["7z x"]),
    "stata": ("a.dta", b"\1" * 40, [], ["dta", "to_csv"]),
    "spss": ("a.sav", b"\1" * 40, [], ["sav", "to_csv"]),
    "r's data": ("a.rds", b"\1" * 40, [], ["rds", "write.csv"]),
    "pickle": ("a.pkl", b"\1" * 40, [], ["pkl", "to_csv"]),
}

# name: (options, texts of the message); wrong options, exit code 2
MISUSED = {
    "separator of two signs": (["--separator", ";;"], ["--separator", ";;"]),
    "separator of a digit": (["--separator", "1"], ["--separator", "'1'"]),
    "separator of a letter": (["--separator", "x"], ["--separator", "'x'"]),
    "separator of a quote": (["--separator", '"'], ["--separator"]),
    "decimal of a word": (["--decimal", "dot"], ["--decimal", "dot", "comma"]),
    "header of a word": (["--header", "maybe"], ["--header", "maybe"]),
    "missing of a word": (["--missing", "zero"], ["--missing", "zero", "median"]),
    "categorical of a word": (["--categorical", "hash"], ["--categorical", "hash", "one-hot"]),
    "missing column": (["--columns", "x,q"], ["'q'", "x, y"]),
    "column beyond the last": (["--columns", "3"], ["3", "from 1 to 2"]),
    "columns twice": (["--columns", "x,x"], ["twice"]),
    "columns backwards": (["--columns", "2-1"], ["backwards"]),
    "empty entry": (["--columns", "x,,y"], ["--columns", "empty entry"]),
    "entry that ends in a comma": (["--columns", "x,"], ["--columns", "empty entry"]),
    "quote that never ends": (["--columns", '"x,y'], ["--columns", "never ends"]),
    "missing excluded column": (["--exclude", "q"], ["'q'"]),
    "column both taken and excluded": (["--columns", "x,y", "--exclude", "y"], ["--columns", "--exclude"]),
    "missing id column": (["--id-column", "q"], ["'q'"]),
    "id and coordinate": (["--id-column", "x", "--columns", "x"], ["in both --columns and --id-column"]),
    "label and coordinate": (["--label-column", "x", "--columns", "x"], ["in both --columns and --label-column"]),
    "column of weights without a file": (["--weights-column", "x"], ["--weights-column", "--weights FILE"]),
    "missing column of weights": (["--weights", "a.csv", "--weights-column", "q"], ["'q'", "x, y"]),
    "ambiguous column of weights": (["--weights", "a.csv"], ["has 2 columns"]),
    "table of another format": (["--table-out", "t.npy"], ["--table-out", ".csv, .arrow, .feather, .arrows"]),
}


def save(path, content):
    if isinstance(content, np.ndarray):
        np.save(path, content)
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_bytes(content.encode())
    return path


def test_number_of_table_cases():
    assert len(TAKEN) + len(REFUSED) + len(MISUSED) >= 150


@pytest.mark.parametrize("name", TAKEN)
def test_accepted_tables(name, tmp_path):
    file, content, options, points, said = TAKEN[name]
    save(tmp_path / file, content)
    done = run("fit", "kmeans", file, "-k", 1, "--json", *options, cwd=tmp_path)
    value = json.loads(done.out)
    points = np.array(points, dtype=float)
    assert (value["n"], value["d"]) == points.shape
    squares = ((points - points.mean(axis=0)) ** 2).sum()
    assert value["objective"] == pytest.approx(squares, rel=1e-9, abs=1e-9)
    told = " ".join(texts([*value["notes"], *value["warnings"]]))
    for words in said:
        assert words in done.err and words in told, done.err
    if not said:
        assert [line for line in done.err.splitlines() if "of the variance of all columns" not in line and "the same value in every row" not in line] == []


@pytest.mark.parametrize("name", REFUSED)
def test_rejected_tables(name, tmp_path):
    file, content, options, words = REFUSED[name]
    save(tmp_path / file, content)
    done = run("fit", "kmeans", file, "-k", 1, "--labels-out", "labels.csv", *options, cwd=tmp_path, code=3)
    assert done.out == ""
    for word in words:
        assert word in done.err, done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == [file]


def test_missing_array_column(tmp_path):
    np.save(tmp_path / "a.npy", np.array(A))
    for options, words in ((["--columns", "3"], "from 1 to 2"), (["--columns", "x"], "Give a number from 1 to 2"), (["--exclude", "1-2"], "no column is left")):
        assert words in run("fit", "kmeans", "a.npy", "-k", 1, *options, cwd=tmp_path, code=3 if "left" in words else 2).err


def test_blank_labels_are_not_scored(tmp_path):
    kinds = ["a", "a", "", "b", "b", ""]
    rows = [[0, 1], [0, 2], [0, 1.5], [9, 1], [9, 2], [9, 1.5]]
    save(tmp_path / "a.csv", "x,y,kind\n" + "".join(f"{x},{y},{kind}\n" for (x, y), kind in zip(rows, kinds)))
    save(tmp_path / "t.csv", "label\n" + "".join(f'"{kind}"\n' for kind in kinds))
    own = document("fit", "kmeans", "a.csv", "-k", 2, "--label-column", "kind", "--model-out", "m", cwd=tmp_path)
    beside = document("fit", "kmeans", "a.csv", "-k", 2, "--exclude", "kind", "--truth", "t.csv", cwd=tmp_path)
    assert own["scores"] == beside["scores"] and own["confusion"] == beside["confusion"]
    assert sum(map(sum, own["confusion"]["counts"])) == 4
    assert document("predict", "m", "a.csv", "--label-column", "kind", cwd=tmp_path)["scores"] == own["scores"]


def test_weights_column(tmp_path):
    save(tmp_path / "a.csv", "x,y,w\n1,2,1\n3,4,3\n5,7,0.5\n")
    value = document("fit", "kmeans", "a.csv", "-k", 1, "--exclude", "w", "--weights", "a.csv", "--weights-column", "w", "--model-out", "m", cwd=tmp_path)
    weights = np.array([1, 3, 0.5])[:, None]
    points = np.array(A, dtype=float)
    mean = (weights * points).sum(0) / weights.sum()
    assert value["objective"] == pytest.approx((weights * (points - mean) ** 2).sum())
    told = document("describe", "m", "a.csv", "--weights", "a.csv", "--weights-column", "3", cwd=tmp_path)
    assert told["n"] == 3


def test_label_array_is_not_read_as_points(tmp_path):
    np.savez(tmp_path / "a.npz", names=np.array(["ann", "bob", "cid"]), y=np.array([0, 1, 0]))
    done = run("fit", "kmeans", "a.npz", "-k", 1, cwd=tmp_path, code=3)
    assert "y (3 values), is a single column, like labels" in done.err and "names" in done.err
    run("fit", "kmeans", "a.npz:y", "-k", 1, cwd=tmp_path)


def test_page_with_a_hundred_classes_stays_small(tmp_path):
    labels = np.repeat(np.arange(100), 10)
    np.save(tmp_path / "p.npy", np.column_stack([labels, labels % 7]) + np.random.default_rng(0).normal(size=(1000, 2)))
    np.save(tmp_path / "t.npy", labels)
    run("fit", "kmeans", "p.npy", "-k", 100, "--truth", "t.npy", "--report", "r.html", "--restarts", 1, "--quiet", cwd=tmp_path)
    page = (tmp_path / "r.html").read_text()
    table = page[page.index("<h2>Classes and clusters</h2>") :]
    table = table[: table.index("</section>")]
    assert len(table) < 20_000 and "100 classes and 100 clusters" in table and table.count("<tr>") == 101


@pytest.mark.parametrize("name", MISUSED)
def test_misused_table_options(name, tmp_path):
    options, words = MISUSED[name]
    save(tmp_path / "a.csv", NAMED)
    done = run("fit", "kmeans", "a.csv", "-k", 1, *options, cwd=tmp_path, code=2)
    for word in words:
        assert word in done.err, done.err
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def table(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


MESSY = "person;weight;size;colour;kind\nann;1,5;2;red;a\nbob;;3;blue;b\ncid;1,6;2,5;red;a\ndan;9,5;9;green;b\neve;9,1;NA;green;b\nfay;9,3;9,5;blue;b\n"


def test_outputs_keep_ids_and_rows(tmp_path):
    save(tmp_path / "a.csv", MESSY)
    run("fit", "kmeans", "a.csv", "-k", 2, "--id-column", "person", "--exclude", "kind", "--missing", "drop", "--categorical", "one-hot",
        "--labels-out", "l.csv", "--table-out", "t.csv", "--model-out", "m", "--quiet", cwd=tmp_path)
    labels = table(tmp_path / "l.csv")
    assert labels[0] == ["person", "label"]
    assert [row[0] for row in labels[1:]] == ["ann", "bob", "cid", "dan", "eve", "fay"]
    assert labels[2][1] == labels[5][1] == ""  # rows that were left out
    assert labels[1][1] == labels[3][1] != labels[4][1] == labels[6][1]
    found = table(tmp_path / "t.csv")
    assert found[0] == ["person", "weight", "size", "colour", "kind", "label", "distance", "outlier_score"]
    assert [row[:5] for row in found[1:]] == [line.split(";") for line in MESSY.splitlines()[1:]]
    assert [row[5] for row in found[1:]] == [row[1] for row in labels[1:]]
    for column in (6, 7):
        assert [row[column] == "" for row in found[1:]] == [False, True, False, False, True, False]
    assert float(found[1][7]) == pytest.approx(1)  # the two rows of a cluster have the same distance from its mean
    # The two points of a cluster have the same distance from its centroid.
    assert float(found[1][6]) == pytest.approx(float(found[3][6]))
    # The same rows again, and a row with a new word, with the columns in another order.
    run("predict", "m", "a.csv", "--id-column", "person", "--labels-out", "p.csv", "--table-out", "pt.csv", "--quiet", cwd=tmp_path)
    assert table(tmp_path / "p.csv") == labels
    assert [row[:6] for row in table(tmp_path / "pt.csv")] == [row[:6] for row in found]
    save(tmp_path / "next.csv", "colour,size,weight,other\nviolet,9,9.4,?\nred,2,1.4,x\n")
    done = run("predict", "m", "next.csv", "--labels-out", "n.csv", "--json", cwd=tmp_path)
    told = " ".join(texts(json.loads(done.out)["warnings"]))
    assert "1 value was not in the training data and is ignored" in told and "violet" in told
    assert [row[0] for row in table(tmp_path / "n.csv")[1:]] == [labels[4][1], labels[1][1]]


TYPED = """person;weight;code;size;colour
ann;1,5;007;2;red
b\u00f3b;;012;3;"bl;ue"
cid;1,25;1;2;NA
dan;9,5;3;9;
eve;9,1;44;9;green
fay;9,3;5;NA;blue
"""


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    """The tables of fit and predict, each as csv and as Arrow."""
    folder = tmp_path_factory.mktemp("typed")
    save(folder / "a.csv", TYPED)
    words = ["--id-column", "person", "--columns", "weight,size"]
    for ending in ["csv", "arrow", "feather", "arrows"]:
        run("fit", "kmeans", "a.csv", "-k", 2, *words, "--missing", "drop", "--table-out", f"t.{ending}", "--model-out", "m", "--quiet", cwd=folder)
        run("predict", "m", "a.csv", "--id-column", "person", "--table-out", f"p.{ending}", "--quiet", cwd=folder)
    return folder


def checked(read, typed, name):
    """`read` returns the columns as lists, with None for missing values."""
    found = read(typed / name)
    expected = table(typed / f"{name[0]}.csv")
    assert list(found) == expected[0] == ["person", "weight", "code", "size", "colour", "label", "distance", "outlier_score"]
    assert found["person"] == ["ann", "b\u00f3b", "cid", "dan", "eve", "fay"] and found["code"] == ["007", "012", "1", "3", "44", "5"]
    assert found["weight"] == [1.5, None, 1.25, 9.5, 9.1, 9.3] and found["size"] == [2, 3, 2, 9, 9, None]
    assert found["colour"] == ["red", "bl;ue", "NA", None, "green", "blue"]
    assert all(isinstance(value, int) for name in ("size", "label") for value in found[name] if value is not None)
    for column, head in enumerate(expected[0][5:], 5):
        assert found[head] == [None if row[column] == "" else float(row[column]) for row in expected[1:]]


@pytest.mark.parametrize("name", [f"{of}.{ending}" for of in "tp" for ending in ("arrow", "feather", "arrows")])
def test_arrow_table_is_readable_by_pyarrow(typed, name):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import feather, ipc

    def read(path):
        with pyarrow.OSFile(str(path), "rb") as file:
            found = (ipc.open_stream if name.endswith("arrows") else ipc.open_file)(file).read_all()
        found.validate(full=True)
        return found.to_pydict()

    checked(read, typed, name)
    if name.endswith("feather"):
        checked(lambda path: feather.read_table(path).to_pydict(), typed, name)
    polars = pytest.importorskip("polars")
    checked(lambda path: (polars.read_ipc_stream if name.endswith("arrows") else polars.read_ipc)(path).to_dict(as_series=False), typed, name)


@pytest.mark.parametrize("ending", ["arrow", "feather", "arrows"])
def test_arrow_table_round_trip(typed, tmp_path, ending):
    # The Arrow table is read and written again. The csv table and the labels of the same rows are the same too.
    run("predict", typed / "m", typed / f"p.{ending}", "--id-column", "person", "--table-out", f"again.{ending}", "--quiet", cwd=tmp_path)
    run("predict", typed / "m", typed / f"p.{ending}", "--id-column", "person", "--table-out", "again.csv", "--quiet", cwd=tmp_path)
    heads, *rows = table(tmp_path / "again.csv")
    first, *expected = table(typed / "p.csv")
    assert heads == first + ["coterie_label", "coterie_distance", "coterie_outlier_score"]
    assert [row[5:8] for row in rows] == [row[8:] for row in rows] == [row[5:] for row in expected]
    assert [[row[0], row[2], row[4]] for row in rows] == [[row[0], row[2], row[4]] for row in expected]
    run("predict", typed / "m", f"again.{ending}", "--id-column", "person", "--labels-out", "l.csv", "--quiet", cwd=tmp_path)
    assert table(tmp_path / "l.csv") == [[row[0], row[5]] for row in table(typed / "p.csv")]


def test_arrow_table_of_numeric_points(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import ipc

    points = np.concatenate([np.random.default_rng(3).normal(size=(60, 3)), 9 + np.random.default_rng(4).normal(size=(60, 3))])
    known = ["low"] + [""] * 118 + ["high"]
    np.save(tmp_path / "x.npy", points)
    save(tmp_path / "known.csv", "label\n" + "".join(f'"{word}"\n' for word in known))
    run("fit", "kmeans", "x.npy", "--partial-labels", "known.csv", "--table-out", "t.arrow", "--quiet", cwd=tmp_path)
    with pyarrow.OSFile(str(tmp_path / "t.arrow"), "rb") as file:
        found = ipc.open_file(file).read_all()
    assert found.column_names[:4] == ["column-1", "column-2", "column-3", "label"]
    assert np.array_equal(np.column_stack([found.column(j).to_numpy() for j in range(3)]), points)
    assert found.column("label").to_pylist() == ["low"] * 60 + ["high"] * 60


def test_arrow_table_is_complete_or_absent(tmp_path):
    save(tmp_path / "a.csv", NAMED)
    os.symlink("/dev/full", tmp_path / "full.arrow")
    done = run("fit", "kmeans", "a.csv", "-k", 2, "--table-out", "full.arrow", "--labels-out", "l.csv", cwd=tmp_path, code=1)
    assert "No space left" in done.err and len(table(tmp_path / "l.csv")) == 4
    done = run("fit", "kmeans", "a.csv", "-k", 2, "--table-out", "nowhere/t.arrows", cwd=tmp_path, code=1)
    assert "nowhere" in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "full.arrow", "l.csv"]


@pytest.mark.parametrize("how", ["mean", "median"])
def test_predict_fills_missing_values_from_training_data(how, tmp_path):
    save(tmp_path / "a.csv", "x,y\n0,0\n2,\n0,1\n100,50\n,52\n102,50\n")
    run("fit", "kmeans", "a.csv", "-k", 2, "--missing", how, "--model-out", "m", "--quiet", cwd=tmp_path)
    save(tmp_path / "b.csv", "x,y\n1,\n,51\n")
    done = document("predict", "m", "b.csv", "--distances-out", "d.csv", cwd=tmp_path)
    assert done["preprocessing"] == f"missing {how}"
    x = {"mean": 40.8, "median": 2}[how]
    y = {"mean": 30.6, "median": 50}[how]
    fitted = np.array([[0, 0], [2, y], [0, 1], [100, 50], [x, 52], [102, 50]], dtype=float)
    distances = np.array([[float(field) for field in row] for row in table(tmp_path / "d.csv")[1:]])
    again = document("predict", "m", "a.csv", "--labels-out", "l.csv", cwd=tmp_path)
    labels = np.array([int(row[0]) for row in table(tmp_path / "l.csv")[1:]])
    centroids = np.array([fitted[labels == label].mean(axis=0) for label in (0, 1)])
    new = np.array([[1, y], [x, 51]])
    assert distances == pytest.approx(np.linalg.norm(new[:, None] - centroids[None], axis=2))
    assert again["n"] == 6


def test_predict_rejects_missing_values_without_missing_option(tmp_path):
    save(tmp_path / "a.csv", NAMED)
    run("fit", "kmeans", "a.csv", "-k", 2, "--model-out", "m", "--quiet", cwd=tmp_path)
    save(tmp_path / "b.csv", "x,y\n1,\n")
    done = run("predict", "m", "b.csv", "--labels-out", "l.csv", cwd=tmp_path, code=3)
    assert "column 'y', line 2: the value is missing" in done.err


def test_transform_keeps_positions_of_omitted_rows(tmp_path):
    save(tmp_path / "a.csv", "x,y,z\n0,0,1\n1,,1\n1,0,1\n9,9,2\n9,8,\n8,9,2\n")
    run("fit", "subspace", "a.csv", "-k", 2, "--missing", "drop", "--model-out", "m", "--quiet", cwd=tmp_path)
    done = document("transform", "m", "a.csv", "--points-out", "e.csv", cwd=tmp_path)
    assert done["n"] == 4
    rows_out = table(tmp_path / "e.csv")
    assert [row == [""] * len(row) or all(field == "" for field in row) for row in rows_out[-6:]] == [False, True, False, False, True, False]


def large(tmp_path, count=60000):
    """A file whose numbers do not fit into 64 MB, with missing values and words."""
    draw = np.random.default_rng(5)
    x = np.where(np.arange(count) % 2 == 0, 0.0, 20.0)[:, None] + draw.normal(size=(count, 40)).round(2)
    with open(tmp_path / "large.csv", "w") as file:
        file.write("id," + ",".join(f"x{j}" for j in range(40)) + ",colour\n")
        for i, row in enumerate(x):
            fields = [f"{value:.2f}" for value in row]
            if i % 97 == 0:
                fields[i % 40] = "NA"
            file.write(f"r{i}," + ",".join(fields) + "," + ["red", "blue", ""][0 if i % 2 else 1 if i % 13 else 2] + "\n")
    return "large.csv"


@pytest.mark.parametrize("missing", ["drop", "mean", "median"])
def test_table_larger_than_memory_gives_the_same_result(missing, tmp_path):
    file = large(tmp_path, 30000)
    words = ["fit", "kmeans", file, "-k", 2, "--id-column", "id", "--missing", missing, "--categorical", "one-hot", "--scale", "minmax", "--json", "--quiet"]
    whole = json.loads(run(*words, "--labels-out", "a.csv", "--table-out", "at.csv", cwd=tmp_path).out)
    small = json.loads(run(*words, "--labels-out", "b.csv", "--table-out", "bt.csv", "--memory", "16M", cwd=tmp_path).out)
    assert any("in blocks" in warning for warning in texts(small["warnings"]))
    assert whole["objective"] == small["objective"] and whole["sizes"] == small["sizes"]
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert [row[-2] for row in table(tmp_path / "at.csv")] == [row[-2] for row in table(tmp_path / "bt.csv")]


def test_failed_output_does_not_lose_the_others(tmp_path):
    save(tmp_path / "a.csv", NAMED)
    os.symlink("/dev/full", tmp_path / "full.csv")
    done = run("fit", "kmeans", "a.csv", "-k", 2, "--labels-out", "full.csv", "--model-out", "m", "--table-out", "t.csv", "--report", "r.html",
               "--picture", "p.svg", cwd=tmp_path, code=1)
    assert "No space left" in done.err and "kmeans on a.csv" in done.out
    for name in ["m", "t.csv", "r.html", "p.svg"]:
        assert (tmp_path / name).stat().st_size > 0
    assert "full.csv" not in done.out
    run("info", "m", cwd=tmp_path)
    for option in ["--table-out", "--distances-out"]:
        done = run("predict", "m", "a.csv", option, "full.csv", "--labels-out", "l.csv", cwd=tmp_path, code=1)
        assert "No space left" in done.err
        assert len(table(tmp_path / "l.csv")) == 4
        (tmp_path / "l.csv").unlink()
    for option in ["--picture", "--report"]:
        link = tmp_path / ("full.svg" if option == "--picture" else "full.html")
        os.symlink("/dev/full", link)
        run("fit", "kmeans", "a.csv", "-k", 2, option, link.name, "--labels-out", "l.csv", cwd=tmp_path, code=1)
        assert len(table(tmp_path / "l.csv")) == 4
        (tmp_path / "l.csv").unlink()
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".part")]


def test_closed_pipe_does_not_lose_the_model(tmp_path):
    save(tmp_path / "a.csv", "".join(f"{i % 7},{i % 3}\n" for i in range(60000)))
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([COMMAND, "fit", "kmeans", "a.csv", "-k", "2", "--labels-out", "-", "--model-out", "m", "--quiet"], cwd=tmp_path, stdout=writer,
                          stderr=subprocess.PIPE, timeout=100)
    os.close(writer)
    assert done.returncode == 1 and b"standard output" in done.stderr
    run("info", "m", cwd=tmp_path)


def test_document_and_page_have_command_and_version(tmp_path):
    save(tmp_path / "a.csv", NAMED)
    value = document("fit", "kmeans", "a.csv", "-k", 2, "--report", "r.html", cwd=tmp_path)
    assert value["command"] == "coterie fit kmeans a.csv -k 2 --report r.html --json"
    assert value["date"].endswith("Z") and len(value["date"]) == 20 and value["version"].count(".") == 2
    page = (tmp_path / "r.html").read_text()
    assert "coterie fit kmeans a.csv -k 2" in page and value["version"] in page


def whole_drawings(page):
    """The page must be UTF-8, and every SVG drawing in it valid XML."""
    drawings = re.findall("<svg .*?</svg>", page.read_bytes().decode("utf-8"), re.S)
    assert drawings
    for drawing in drawings:
        xml.dom.minidom.parseString(drawing.encode())


def test_latin1_names_give_valid_pages(tmp_path):
    save(tmp_path / "a.csv", "größe,ÿ\n1,2\n3,4\n5,7\n".encode("latin-1"))
    run("fit", "kmeans", "a.csv", "-k", 2, "--report", "r.html", "--picture", "p.svg", "--quiet", cwd=tmp_path)
    whole_drawings(tmp_path / "r.html")
    whole_drawings(tmp_path / "p.svg")


# A surrogate, a number beyond Unicode, an overlong form, a control character, a character that XML does not allow, invalid bytes.
@pytest.mark.parametrize("broken", [b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe0\x80\x80", b"\x01", b"\xef\xbf\xbe", b"\xf6\xff"])
def test_invalid_bytes_in_names_give_valid_pages(tmp_path, broken):
    rows = b"".join("é".encode() + broken + b"%d,%d,%d,\xc3\xa4%s\n" % (i, i % 7, i % 5, broken * (i % 2)) for i in range(40))
    folder = os.fsencode(tmp_path)
    with open(os.path.join(folder, b"na" + broken + b"me.csv"), "wb") as file:
        file.write("größe".encode() + broken + b",a" + broken + b",b,class" + broken + b"\n" + rows)
    words = [b"fit", b"kmeans", b"na" + broken + b"me.csv", b"-k", b"2", b"--id-column", b"1", b"--label-column", b"4", b"--report", b"r.html",
             b"--picture", b"p.svg", b"--quiet", b"--json"]
    done = subprocess.run([COMMAND, *words], cwd=tmp_path, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout.decode("utf-8"))
    whole_drawings(tmp_path / "r.html")
    whole_drawings(tmp_path / "p.svg")


def test_notes_on_tables_from_several_files(tmp_path):
    for part in (1, 2):
        save(tmp_path / f"{part}.csv", ",x,word\n" + "".join(f"{i},{i * i % 7},w{i}\n" for i in range(20 * part)))
    said = run("fit", "kmeans", "[12].csv", "-k", 2, "--columns", "numeric", cwd=tmp_path).err
    assert "2 files are read as one" in said and "column 3 (word) holds words and is not used" in said
    assert "column 1: the column has no name, so it is taken as row names" in said


def test_omitted_rows_are_counted_separately(tmp_path):
    """n, sizes, shares and profiles count only rows with a label, in every output."""
    points = tmp_path / "points.csv"
    points.write_text("x,y,class\n1,2,a\n1.1,2.1,a\n0.9,,a\n1.2,1.9,a\n5,6,b\n5.1,6.2,b\n,6,b\n5.2,6.1,b\nNA,NA,b\n1,2.2,a\n")
    words = ["--label-column", "class"]
    drop = [*words, "--missing", "drop", "--quiet"]
    model, labels = tmp_path / "model", tmp_path / "labels.csv"
    page = tmp_path / "page.html"

    def told(*command):
        value = document(*command)
        assert (value["n"], value["rows_left_out"]) == (7, 3), command
        if "sizes" in value:
            assert sorted(value["sizes"]) == [3, 4]
        for cluster in value.get("profiles", []):
            assert cluster["share"] == pytest.approx(cluster["points"] / 7)
        text = run(*command).out
        assert ": 7 rows" in text and re.search("left out +3 rows with missing values", text), text
        return value

    assert sum(map(sum, told("fit", "kmeans", points, "-k", 2, *drop, "--model-out", model, "--labels-out", labels, "--report", page)["confusion"]["counts"])) == 7
    assert "<b>7</b>" in page.read_text() and "rows left out" in page.read_text()
    told("predict", model, points, "--quiet", *words)
    told("transform", model, points, "--quiet", *words, "--out", tmp_path / "moved.npy") if "embedding" in run("info", model).out else None
    told("describe", model, points, "--quiet", *words, "--report", page)
    assert "rows left out" in page.read_text()
    told("compare", points, "-k", 2, "--methods", "kmeans,ward", *drop, "--report", page)
    assert "rows left out" in page.read_text()
    told("consensus", points, "-k", 2, "--fits", 5, *drop)
    tuned = document("tune", "kmeans", points, "--grid", "clusters=2:3", *drop)
    assert tuned["n"] == tuned["fit"]["n"] == 7 and tuned["fit"]["rows_left_out"] == 3
    assert ": 7 rows" in run("tune", "kmeans", points, "--grid", "clusters=2:3", *drop).out.splitlines()[0]
    scores = document("evaluate", labels, points, "--truth-column", "class", "--quiet")
    assert (scores["n"], scores["unknown"]) == (7, 3)
    # If no row is left out, the output does not mention it.
    whole = run("fit", "kmeans", "data:iris", "-k", 3).out
    assert "left out" not in whole and document("fit", "kmeans", "data:iris", "-k", 3)["rows_left_out"] == 0


def test_row_numbers_are_those_of_the_file(tmp_path):
    """Row numbers in messages count the omitted rows, here 1 and 3."""
    save(tmp_path / "a.csv", "x,y,kind\nNA,1,a\n4,4,a\n2,,b\n4,4,b\n4,4,a\n4,4,b\n")
    fit = ["fit", "kmeans", "a.csv", "-k", 2, "--label-column", "kind", "--missing", "drop"]
    said = run(*fit, "--sizes", "2:2", cwd=tmp_path).err
    assert re.search("equal rows are split between clusters, for example rows 2 and [456]", said)
    assert "2 rows of 6 have missing values" in said and "no truth" not in said
    for pairs, words in (("must 2 5\ncannot 5 2", "rows 5 and 2 must be apart, but must-links join them: rows 5, 2"),
                         ("cannot 2 4\ncannot 4 5\ncannot 2 5", "rows 2, 4, 5 must all be apart, which needs 3 clusters")):
        save(tmp_path / "pairs.csv", "".join(f"{a},{b},{kind}\n" for kind, a, b in map(str.split, pairs.splitlines())))
        assert words in run(*fit, "--pairs", "pairs.csv", cwd=tmp_path, code=3).err
    save(tmp_path / "truth.csv", "k,z\na,1\na,1\nb,1\n,1\na,1\nb,1\n")
    said = run(*fit, "--truth", "truth.csv", "--truth-column", "k", cwd=tmp_path).err
    assert "1 of 4 rows has no truth and is left out of the scores" in said
    # Also with a sample.
    random = np.random.default_rng(5)
    rows = ["NA,1" if i < 50 else f"{random.integers(4)},{random.integers(4)}" for i in range(250)]
    save(tmp_path / "many.csv", "x,y\n" + "\n".join(rows) + "\n")
    said = run("fit", "ssc", "many.csv", "-k", 12, "--missing", "drop", "--sample", 100, cwd=tmp_path).err
    one, other = (int(row) for row in re.search("split between clusters, for example rows ([0-9]+) and ([0-9]+)", said).groups())
    assert rows[one - 1] == rows[other - 1] and one > 50


def test_messages_suggest_only_existing_options(tmp_path):
    save(tmp_path / "a.csv", NAMED)
    run("fit", "kmeans", "a.csv", "-k", 2, "--model-out", "m", "--quiet", cwd=tmp_path)
    save(tmp_path / "later.csv", "x,y\n1,2\n3,NA\n")
    save(tmp_path / "words.csv", "x,y\n1,2\n3,oak\n4,elm\n")
    save(tmp_path / "dates.csv", "x,y\n1,2\n3,2026-11-23\n")
    np.save(tmp_path / "later.npy", np.array([[1, 2], [3, np.nan]]))
    for file, place in (("later.csv", "column 'y', line 3"), ("words.csv", "column 'y', line 3"), ("dates.csv", "column 'y', line 3"), ("later.npy", "column 2, row 2")):
        for command in ("predict", "describe"):
            said = run(command, "m", file, cwd=tmp_path, code=3).err
            assert place in said
            for option in re.findall("--[a-z-]+", said):
                assert option in run(command, "--help").out
        said = run("fit", "kmeans", "a.csv", "-k", 2, "--initial-centroids", file, cwd=tmp_path, code=3).err
        assert "--missing" not in said and "--dates" not in said
    assert "--missing drop" in run("fit", "kmeans", "later.npy", "-k", 2, cwd=tmp_path, code=3).err


def test_singular_in_messages(tmp_path):
    save(tmp_path / "one.csv", "x,y\n1,2\n")
    assert "2 clusters requested, but there is only 1 row." in run("fit", "kmeans", "one.csv", "-k", 2, cwd=tmp_path, code=2).err
    save(tmp_path / "a.csv", NAMED)
    assert "one.csv has 1 row, but a.csv has 3" in run("fit", "kmeans", "a.csv", "-k", 2, "--truth", "one.csv", "--truth-column", "x", cwd=tmp_path, code=3).err


def test_overwritten_file_keeps_its_permissions(tmp_path):
    save(tmp_path / "a.csv", NAMED)
    (tmp_path / "l.csv").write_text("old\n")
    os.chmod(tmp_path / "l.csv", 0o640)
    run("fit", "kmeans", "a.csv", "-k", 2, "--labels-out", "l.csv", "--quiet", cwd=tmp_path)
    assert (tmp_path / "l.csv").stat().st_mode & 0o777 == 0o640
