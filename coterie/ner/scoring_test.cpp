// Compares scores with a Python version of conlleval's rules, on random tags that may be ill-formed.

#include "coterie/ner/scoring.hpp"

#include <random>

#include <gtest/gtest.h>

#include "tests/support/test_files.hpp"

namespace coterie::ner {
namespace {

TEST(NerScoring, CountsByHand) {
    const Corpus gold = parse_corpus("a B-X\nb I-X\nc O\nd B-Y\ne B-Y\n", "gold.conll");
    const Corpus found = parse_corpus("a B-X\nb O\nc B-Z\nd B-Y\ne B-Y\n", "found.conll");
    const MentionScores scores = score_mentions(gold, found);
    EXPECT_EQ(scores.micro.marked, 3);
    EXPECT_EQ(scores.micro.found, 4);
    EXPECT_EQ(scores.micro.right, 2);
    EXPECT_DOUBLE_EQ(scores.micro.precision(), 0.5);
    EXPECT_DOUBLE_EQ(scores.micro.recall(), 2.0 / 3);
    EXPECT_DOUBLE_EQ(scores.micro.f1(), 4.0 / 7);
    ASSERT_EQ(scores.types.size(), 3u);
    EXPECT_EQ(scores.types[2].first, "Z");
    EXPECT_EQ(scores.types[2].second.precision(), 0);
    EXPECT_EQ(scores.types[2].second.recall(), 0);  // 0 / 0
    EXPECT_EQ(scores.types[0].second.f1(), 0);
}

TEST(NerScoring, RejectsDifferentTexts) {
    using coterie::testing::has;
    using coterie::testing::message_of;
    const Corpus gold = parse_corpus("a O\n\nb O\n", "gold.conll");
    const Corpus other = parse_corpus("a O\n\nc O\n", "other.conll");
    const Corpus bare = parse_corpus("a\n\nb\n", "bare.conll");
    EXPECT_TRUE(has(message_of<BadData>([&] { score_mentions(gold, other); }), "gold.conll: line 3: the text differs"));
    EXPECT_TRUE(
        has(message_of<BadData>([&] { score_mentions(bare, gold); }), "bare.conll: line 1: the sentence is not"));
    // Line ends at the end of the text make no sentence.
    EXPECT_EQ(score_mentions(gold, parse_corpus("a B-X\n\nb O", "found.conll")).micro.found, 1);
    const Corpus text = parse_corpus("a b.\n\n", "a.txt"), same = parse_corpus("a b.", "b.txt");
    EXPECT_FALSE(has(message_of<BadData>([&] { score_mentions(text, same); }), "the text"));
}

// The same text in any format, split in any way into documents and lines.
TEST(NerScoring, FormatsAndDocumentsMayDiffer) {
    const std::vector<Corpus> same = {
        parse_corpus(
            R"({"text": "Ada saw Paris. She left.\n\nBob\u00a0stayed.", "label": [[0, 3, "PER"], [8, 13, "LOC"], [26, 29, "PER"]]})",
            "one.jsonl"),
        parse_corpus(R"({"text": "Ada saw Paris.", "label": [[0, 3, "PER"], [8, 13, "LOC"]]}
{"text": "She left.", "label": []}
{"text": "", "label": []}
{"text": "  Bob stayed. ", "label": [[2, 5, "PER"]]})",
                     "lines.jsonl"),
        parse_corpus(
            "Ada B-PER\nsaw O\nParis B-LOC\n. O\n\nShe O\nleft O\n. O\n\n-DOCSTART- O\n\nBob B-PER\nstayed O\n. O\n",
            "columns.conll"),
        parse_corpus("Ada B-PER\nsaw O\nParis B-LOC\n. O\nShe O\nleft O\n. O\nBob B-PER\nstayed O\n. O\n",
                     "one.conll")};
    for (const Corpus& gold : same)
        for (const Corpus& found : same) {
            const MentionScores scores = score_mentions(gold, found);
            EXPECT_EQ(scores.micro.marked, 3) << gold.source << ", " << found.source;
            EXPECT_EQ(scores.micro.right, 3) << gold.source << ", " << found.source;
            EXPECT_EQ(scores.micro.found, 3);
        }
    using coterie::testing::has;
    using coterie::testing::message_of;
    const Corpus shorter = parse_corpus("Ada B-PER\nsaw O\n", "short.conll");
    EXPECT_TRUE(
        has(message_of<BadData>([&] { score_mentions(same[1], shorter); }), "lines.jsonl: line 1: the text differs"));
    EXPECT_TRUE(
        has(message_of<BadData>([&] { score_mentions(shorter, same[1]); }), "short.conll: line 1: the text ends here"));
}

TEST(NerScoring, AgreesWithConlleval) {
    const coterie::testing::Folder folder;
    if (coterie::testing::python("json").empty()) GTEST_SKIP() << "needs /usr/bin/python3";
    std::mt19937_64 random(11);
    const std::vector<std::string> tags = {"O", "O", "B-X", "I-X", "B-Y", "I-Y"};
    std::string both;
    std::string gold;
    std::string found;
    for (int i = 0; i < 6000; ++i) {
        if (random() % 8 == 0) {
            for (std::string* const each : {&both, &gold, &found}) *each += "\n";
            continue;
        }
        const std::string& a = tags[random() % tags.size()];
        const std::string& b = random() % 3 == 0 ? tags[random() % tags.size()] : a;
        both += "w " + a + " " + b + "\n";
        gold += "w " + a + "\n";
        found += "w " + b + "\n";
    }
    folder.file("both.txt", both);
    // conlleval's loop over lines, with its flags. The tables of its two functions are written as sets.
    ASSERT_TRUE(coterie::testing::run_python(folder, R"(
import collections, sys
folder = sys.argv[1]
ENDS = {('B', 'B'), ('B', 'O'), ('I', 'B'), ('I', 'O')}
BEGINS = {('B', 'B'), ('I', 'B'), ('O', 'B'), ('O', 'I')}
def ends(p, t, pt, tt): return (p, t) in ENDS or (p != 'O' and pt != tt)
def begins(p, t, pt, tt): return (p, t) in BEGINS or (t != 'O' and pt != tt)
def part(tag): return (tag[0], tag[2:])
count = collections.Counter()
inside = False
pg, pf = part('O'), part('O')
for line in open(folder + '/both.txt').read().split('\n') + ['']:
    g, f = [part(t) for t in line.split()[1:]] if line else [part('O'), part('O')]
    if inside:
        eg, ef = ends(pg[0], g[0], pg[1], g[1]), ends(pf[0], f[0], pf[1], f[1])
        if eg and ef:
            count['right', pg[1]] += 1
            inside = False
        elif eg != ef or g[1] != f[1]:
            inside = False
    bg, bf = begins(pg[0], g[0], pg[1], g[1]), begins(pf[0], f[0], pf[1], f[1])
    if bg and bf and g[1] == f[1]: inside = True
    if bg: count['marked', g[1]] += 1
    if bf: count['found', f[1]] += 1
    pg, pf = g, f
open(folder + '/counts.txt', 'w').write(''.join('%s %d %d %d\n' % (t, count['marked', t], count['found', t], count['right', t]) for t in 'XY'))
)",
                                             folder / ""));
    const CorpusOptions lenient{.format = CorpusFormat::conll, .tags = TagReading::lenient};
    const MentionScores scores =
        score_mentions(parse_corpus(gold, "gold", lenient), parse_corpus(found, "found", lenient));
    std::string counts;
    for (const auto& [type, count] : scores.types)
        counts += type + " " + std::to_string(count.marked) + " " + std::to_string(count.found) + " " +
                  std::to_string(count.right) + "\n";
    EXPECT_EQ(counts, coterie::testing::contents(folder / "counts.txt"));
    EXPECT_GT(scores.micro.right, 500);
}

}  // namespace
}  // namespace coterie::ner
