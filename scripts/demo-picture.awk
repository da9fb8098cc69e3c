# Draws the picture of the demo. Each line "NAME|CAPTION|PLAIN|METHOD|SCORE" of the list becomes a column of two scatter plots: the labels of
# FOLDER/NAME-kmeans.csv at the top, those of FOLDER/NAME-METHOD.csv at the bottom. FOLDER/NAME-view.csv has the places and true classes (x,y,class).
# Each cluster takes the colour of the class with which it shares most rows, one to one. So a correct row has the same colour in all plots. If PLAIN
# is empty, the column stays empty.
#
#     awk -v folder=demo-output -f scripts/demo-picture.awk list > demo.svg

BEGIN {
    FS = "|"
    split("#0072B2 #E69F00 #009E73 #CC79A7 #D55E00 #56B4E9 #882255 #6B7280 #999933 #332288", colours, " ")
    step = 204; size_x = 190; size_y = 160; left = 44; first = 70; second = 280
}

function text(x, y, style, words) { return sprintf("<text x=\"%d\" y=\"%d\" %s>%s</text>\n", x, y, style, words) }

# Reads the labels of a file into `label`, and the colour of each into `colour`.
function read_labels(file,   line, i, l, c, best, pairs, used, taken, count) {
    split("", label); split("", colour)
    i = -1
    while ((getline line <file) > 0) if (++i > 0) label[i] = line
    close(file)
    if (i != points) { print "demo-picture: " file " has " i " labels instead of " points >"/dev/stderr"; exit failed = 1 }
    for (i = 1; i <= points; ++i) ++count[label[i], class[i]]
    for (;;) {
        best = ""
        for (l in count) {
            split(l, c, SUBSEP)
            if (!(c[1] in colour) && !(c[2] in taken) && (best == "" || count[l] > count[best] || (count[l] == count[best] && l < best))) best = l
        }
        if (best == "") break
        split(best, c, SUBSEP)
        colour[c[1]] = number[c[2]]
        taken[c[2]] = 1
    }
    # Clusters whose classes already have another cluster take the remaining colours.
    for (i = 1; i <= points; ++i)
        for (l in number)
            if (!(label[i] in colour) && !(l in taken)) { colour[label[i]] = number[l]; taken[l] = 1 }
}

function plot(x0, y0,   i, j, r, path, out) {
    out = sprintf("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" fill=\"#F9FAFB\" stroke=\"#E5E7EB\" stroke-width=\"1\"/>\n", x0, y0, size_x, size_y)
    # Draws in rounds over the classes, so that no class hides the others.
    for (r = 0; r < 4; ++r) {
        split("", path)
        for (i = 1; i <= points; ++i)
            if (int(i / 7) % 4 == r)
                path[colour[label[i]]] = path[colour[label[i]]] sprintf("M%.1f %.1fh0", x0 + 10 + (size_x - 20) * (x[i] - low_x) / (high_x - low_x),
                                                                       y0 + size_y - 10 - (size_y - 20) * (y[i] - low_y) / (high_y - low_y))
        for (j = 1; j <= classes; ++j)
            if (path[j] != "") out = out "<path stroke=\"" colours[j] "\" d=\"" path[j] "\"/>\n"
    }
    return out
}

{
    x0 = left + step * n++
    heads = heads text(x0, 34, "font-weight=\"600\" font-size=\"15\"", $1) text(x0, 54, "fill=\"#4B5563\"", $2)
    if ($3 == "") {
        for (r = 0; r < 2; ++r)
            plots = plots sprintf("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" fill=\"none\" stroke=\"#D1D5DB\" stroke-width=\"1\" stroke-dasharray=\"4 4\"/>\n", x0, r ? second : first, size_x, size_y)
        heads = heads text(x0 + 12, second + 84, "fill=\"#4B5563\"", $4)
        next
    }
    file = folder "/" $1 "-view.csv"
    points = classes = 0
    split("", number)
    while ((getline line <file) > 0) {
        split(line, field, ",")
        ++points
        x[points] = field[1] + 0; y[points] = field[2] + 0; class[points] = field[3]
        if (!(field[3] in number)) number[field[3]] = ++classes
        if (points == 1) { low_x = high_x = x[1]; low_y = high_y = y[1] }
        if (x[points] < low_x) low_x = x[points]
        if (x[points] > high_x) high_x = x[points]
        if (y[points] < low_y) low_y = y[points]
        if (y[points] > high_y) high_y = y[points]
    }
    close(file)
    read_labels(folder "/" $1 "-kmeans.csv")
    plots = plots plot(x0, first)
    read_labels(folder "/" $1 "-" $4 ".csv")
    plots = plots plot(x0, second)
    heads = heads text(x0, first + size_y + 20, "fill=\"#4B5563\"", sprintf("k-means: %d %% right", 100 * $3)) \
                  text(x0, second + size_y + 20, "font-weight=\"600\"", sprintf("%s: %d %% right", $4, 100 * $5))
}

END {
    if (failed) exit 1
    width = left + step * n + 8; height = second + size_y + 40
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" font-family=\"system-ui, -apple-system, Segoe UI, Helvetica, Arial, DejaVu Sans, sans-serif\" font-size=\"13\" fill=\"#111827\">\n", width, height, width, height
    print "<title>" n " data sets: clusters of k-means at the top, those of a suitable method at the bottom</title>"
    printf "<rect x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"8\" fill=\"#FFFFFF\" stroke=\"#E5E7EB\"/>\n", width - 1, height - 1
    printf "%s<g fill=\"none\" stroke-width=\"4\" stroke-linecap=\"round\" stroke-opacity=\"0.8\">\n", heads
    printf "%s</g>\n", plots
    printf "<text transform=\"translate(28 %d) rotate(-90)\" text-anchor=\"middle\" fill=\"#4B5563\">plain k-means</text>\n", first + size_y / 2
    printf "<text transform=\"translate(28 %d) rotate(-90)\" text-anchor=\"middle\" font-weight=\"600\">coterie</text>\n", second + size_y / 2
    print "</svg>"
}
