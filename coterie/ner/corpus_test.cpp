// Corpora: every scheme of tags gives the same mentions, and every form of JSON the same annotations.
// Offsets stay the same from input to output. Files that are not valid give an error with the line.

#include "coterie/ner/corpus.hpp"

#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "coterie/ner/unicode.hpp"
#include "tests/support/test_files.hpp"

namespace coterie::ner {
namespace {

using coterie::testing::contents;
using coterie::testing::data_file;
using coterie::testing::Folder;
using coterie::testing::has;
using coterie::testing::message_of;

// "PER:Ada Lovelace" for every mention.
std::vector<std::string> shown_mentions(const Corpus& corpus) {
    std::vector<std::string> out;
    for (const Sentence& sentence : corpus.sentences)
        for (const Mention& mention : sentence.mentions)
            out.push_back(corpus.types[static_cast<std::size_t>(mention.type)] + ":" +
                          corpus.text_of(sentence, mention));
    return out;
}

using Shown = std::vector<std::string>;
using coterie::testing::texts_of;

TEST(NerCorpus, TagSchemesGiveTheSameMentions) {
    const Shown meant = {"PER:Ada Lovelace", "LOC:Paris", "LOC:Rome", "ORG:X"};
    const std::vector<std::pair<std::string, std::vector<std::string>>> schemes = {
        {"BIO", {"B-PER", "I-PER", "O", "B-LOC", "B-LOC", "B-ORG"}},
        {"IOB1", {"I-PER", "I-PER", "O", "I-LOC", "B-LOC", "I-ORG"}},
        {"BIOES", {"B-PER", "E-PER", "O", "S-LOC", "S-LOC", "S-ORG"}},
        {"BIOES", {"B-PER", "L-PER", "O", "U-LOC", "U-LOC", "U-ORG"}}};
    const std::vector<std::string> words = {"Ada", "Lovelace", "saw", "Paris", "Rome", "X"};
    for (const auto& [scheme, tags] : schemes) {
        std::string file;
        for (std::size_t i = 0; i < words.size(); ++i) file += words[i] + " NN " + tags[i] + "\n";
        const Corpus corpus = parse_corpus(file, "a.conll");
        EXPECT_EQ(shown_mentions(corpus), meant) << scheme;
        EXPECT_EQ(texts_of(corpus.notes), Shown{"a.conll: tags read as " + scheme});
    }
    // IO cannot separate neighbours of one type.
    EXPECT_EQ(shown_mentions(parse_corpus("Paris I-LOC\nRome I-LOC\nx O\n", "a.conll")), Shown{"LOC:Paris Rome"});
}

TEST(NerCorpus, ColumnsSentencesAndDocuments) {
    const Corpus corpus = parse_corpus(
        "-DOCSTART- -X- O O\r\n\r\nA NN B O\r\nb NN B B-X\r\n\t\r\nc NN B O\r\n\r\n-DOCSTART- O\nd NN B O\n", "a.txt");
    ASSERT_EQ(corpus.format, CorpusFormat::conll);
    ASSERT_EQ(corpus.documents.size(), 2u);
    EXPECT_EQ(corpus.documents[0].text, "A b\nc");
    EXPECT_EQ(corpus.documents[1].text, "d");
    ASSERT_EQ(corpus.sentences.size(), 3u);
    EXPECT_EQ(corpus.sentences[1].line, 6);
    EXPECT_EQ(corpus.first_words(), (std::vector<Index>{0, 2, 3, 4}));
    EXPECT_EQ(corpus.tags(), (Labels{0, 1, 0, 0}));
    // One field per line: nothing is annotated.
    const Corpus bare = parse_corpus("one\ntwo\n\nthree\n", "a.conll");
    EXPECT_FALSE(bare.sentences[0].annotated);
    EXPECT_EQ(bare.tags(), (Labels{-1, -1, -1}));
}

TEST(NerCorpus, JsonFormsGiveTheSameMentions) {
    // Offsets count code points: the first two characters have 2 and 4 bytes.
    const std::string text = R"("é😀 Zoë Weiß saw Paris. She left.")";
    const Shown meant = {"PER:Zoë Weiß", "LOC:Paris"};
    for (const std::string& line :
         {R"({"text": )" + text + R"(, "label": [[3, 11, "PER"], [16, 21, "LOC"]], "id": 7})",
          R"({"text": )" + text + R"(, "entities": [[16, 21, "LOC"], [3, 12, "PER"]]})",
          R"({"text": )" + text + R"(, "entities": [{"id": 1, "label": "PER", "start_offset": 3, "end_offset": 11},
              {"id": 2, "label": "LOC", "start_offset": 16, "end_offset": 21}], "relations": []})",
          R"({"text": )" + text + R"(, "tokens": [], "spans": [{"start": 3, "end": 11, "label": "PER"},
              {"start": 15, "end": 21, "label": "LOC"}]})",
          "[" + text + R"(, {"entities": [[3, 11, "PER"], [16, 21, "LOC"]]}])"}) {
        std::string one = line;
        for (char& c : one)
            if (c == '\n') c = ' ';
        const Corpus corpus = parse_corpus(one, "a.jsonl");
        std::vector<std::string> got = shown_mentions(corpus);
        EXPECT_EQ(got, meant) << line;
        ASSERT_EQ(corpus.sentences.size(), 2u) << line;  // UAX 29
        EXPECT_TRUE(corpus.sentences[1].annotated);
    }
    EXPECT_FALSE(parse_corpus(R"({"text": "no marks"})", "a.jsonl").sentences[0].annotated);
    EXPECT_TRUE(parse_corpus(R"({"text": "no marks", "label": []})", "a.jsonl").sentences[0].annotated);
}

TEST(NerCorpus, WordsAndSentencesEndAtAnnotationBorders) {
    // UAX 29 has no border within "Dr. No. Who". The annotation ends within a word.
    const Corpus corpus =
        parse_corpus(R"({"text": "Saw Dr. No. Whoever left. Ok.", "label": [[4, 15, "PER"]]})", "a.jsonl");
    EXPECT_EQ(shown_mentions(corpus), Shown{"PER:Dr. No. Who"});
    ASSERT_EQ(corpus.sentences.size(), 2u);
    EXPECT_EQ(corpus.sentences[0].mentions[0].begin, 1u);
}

TEST(NerCorpus, OutputKeepsOffsets) {
    const Folder folder;
    const std::string in = folder.file(
        "a.jsonl",
        "{\"text\":\"😀 Zoë  in\\u00a0Köln!\",\"label\":[[2,5,\"PER\"],[10,14,\"LOC\"]],\"meta\":{\"n\":1}}\n");
    const Corpus corpus = read_corpus(in);
    write_corpus(folder / "out.jsonl", corpus);
    const auto record = nlohmann::json::parse(contents(folder / "out.jsonl"));
    EXPECT_EQ(record["spans"][0]["start"], 2);
    EXPECT_EQ(record["spans"][0]["end"], 5);
    EXPECT_EQ(record["spans"][1]["start"], 10);
    EXPECT_EQ(record["spans"][1]["text"], "Köln");
    EXPECT_EQ(record["meta"]["n"], 1);
    const Corpus again = read_corpus(folder / "out.jsonl");
    EXPECT_EQ(shown_mentions(again), shown_mentions(corpus));
    EXPECT_EQ(again.documents[0].text, corpus.documents[0].text);
}

TEST(NerCorpus, OutputKeepsColumns) {
    const Folder folder;
    const std::string file = "-DOCSTART- O\n\nAda B-PER\nsaw O\nParis B-LOC\nRome B-LOC\n\n-DOCSTART- O\n\nx O\n";
    const Corpus corpus = read_corpus(folder.file("a.txt", file));
    write_corpus(folder / "b.conll", corpus);
    EXPECT_EQ(contents(folder / "b.conll"),
              "Ada\tB-PER\nsaw\tO\nParis\tB-LOC\nRome\tB-LOC\n\n-DOCSTART-\tO\n\nx\tO\n\n");
    const Corpus again = read_corpus(folder / "b.conll");
    EXPECT_EQ(shown_mentions(again), shown_mentions(corpus));
    EXPECT_EQ(again.documents.size(), 2u);
}

TEST(NerCorpus, NotesNameAnnotationsInsideWords) {
    const auto notes = [](const std::string& text, const std::string& source) {
        return texts_of(parse_corpus(text, source).notes);
    };
    const Shown first = notes(
        "{\"text\": \"Ada left.\", \"label\": [[0, 3, \"PER\"]]}\n"
        "{\"text\": \"Paris\", \"label\": [[0, 3, \"LOC\"]]}",
        "a.jsonl");
    EXPECT_EQ(first, Shown{"a.jsonl: line 2: span [0, 3, LOC] ends inside the word 'Paris', which is split there. Mark "
                           "whole words, unless this is intended."});
    const Shown more = notes("{\"text\": \"Ada's Paris\", \"label\": [[1, 3, \"PER\"], [8, 11, \"LOC\"]]}", "a.jsonl");
    EXPECT_EQ(more, Shown{"a.jsonl: line 1: span [1, 3, PER] begins inside the word 'Ada's', which is split there; 1 "
                          "more span splits words. Mark whole words, unless this is intended."});
    const Folder folder;
    folder.file("a.txt", "Ada saw Paris.\n");
    const std::string marks = folder.file("a.ann", "T1\tPER 0 3\tAda\nT2\tLOC 8 12\tPari\n");
    const Shown brat = texts_of(read_corpus(marks).notes);
    ASSERT_EQ(brat.size(), 1u);
    EXPECT_TRUE(has(brat.front(), "a.ann: line 2: span [8, 12, LOC] ends inside the word 'Paris'")) << brat.front();
    EXPECT_TRUE(
        notes("{\"text\": \" Ada , Paris!\", \"label\": [[0, 5, \"PER\"], [7, 12, \"LOC\"]]}", "a.jsonl").empty());
}

TEST(NerCorpus, SubsetsContainOnlyTheirSentences) {
    const Corpus all = parse_corpus(
        "{\"text\": \"Ada left. Bob saw Paris. Cid slept.\", \"id\": 7, \"label\": [[0, 3, \"PER\"], [18, 23, "
        "\"LOC\"]]}\n"
        "{\"text\": \"Dan.\", \"label\": []}",
        "a.jsonl");
    const std::vector<std::size_t> chosen = {1, 3, 0};
    const Corpus some = all.subset(chosen);
    ASSERT_EQ(some.documents.size(), 3u);
    EXPECT_EQ(some.documents[0].text, "Bob saw Paris.");
    EXPECT_EQ(some.documents[1].text, "Dan.");
    EXPECT_EQ(some.documents[2].text, "Ada left.");
    EXPECT_EQ(shown_mentions(some), (Shown{"LOC:Paris", "PER:Ada"}));
    const Folder folder;
    const std::string file = folder / "b.jsonl";
    write_corpus(file, some);
    const Corpus again = read_corpus(file);
    EXPECT_EQ(shown_mentions(again), shown_mentions(some));
    EXPECT_EQ(again.sentences.size(), 3u);
    EXPECT_EQ(again.documents[2].record, "{\"id\":7}");
}

TEST(NerCorpus, Brat) {
    const Folder folder;
    folder.file("a.txt", "Ada saw Paris.\n");
    const std::string marks = folder.file("a.ann", "T1\tPER 0 3\tAda\nR1\tsaw Arg1:T1 Arg2:T2\nT2\tLOC 8 13\tParis\n");
    EXPECT_EQ(shown_mentions(read_corpus(marks)), (Shown{"PER:Ada", "LOC:Paris"}));
    folder.file("a.ann", "T1\tPER 0 3;5 6\tAda\n");
    EXPECT_TRUE(has(message_of<BadData>([&] { read_corpus(marks); }), "a.ann: line 1: "));
}

TEST(NerCorpus, PlainText) {
    const Corpus corpus = parse_corpus("Mr Weiß can't pay 3.14. He left\n\nat once", "a.txt");
    EXPECT_EQ(corpus.format, CorpusFormat::text);
    std::vector<std::string> words;
    for (const Sentence& sentence : corpus.sentences) {
        words.emplace_back("|");
        for (const Word& word : sentence.words) words.emplace_back(corpus.text_of(sentence, word));
    }
    EXPECT_EQ(words, (Shown{"|", "Mr", "Weiß", "can't", "pay", "3.14", ".", "|", "He", "left", "|", "at", "once"}));
    EXPECT_EQ(corpus.sentences[2].line, 3);
}

TEST(NerCorpus, ErrorsNameTheLine) {
    struct Case {
        std::string name, content, words;
    };
    for (const Case& bad : std::vector<Case>{
             {"a.conll", "A B-X\nb I-X\nc O\nd I-Y\n", "a.conll: line 4: tag 'I-Y'"},
             {"a.conll", "A B-X\nb E-X\nc B-X\nd O\n", "a.conll: line 4: tag 'O' follows"},
             {"a.conll", "A B-X\nb E-X\nc B-X\n\nd S-X\n", "a.conll: line 3: "},
             {"a.conll", "A O\nb X-Y\n", "a.conll: line 2: 'X-Y' is not a tag"},
             {"a.conll", "A O\nb\n", "a.conll: line 2: the tag is missing"},
             {"a.conll", "A\nb O\n", "a.conll: line 2: there are two fields"},
             {"a.conll", "\tO\n", "line 1: there is no word"},
             {"a.conll", "\n\n", "a.conll: there are no words"},
             {"a.txt", "", "a.txt: there are no words"},
             {"a.conll", "A O\n\xff\xc0 O\n", "a.conll: line 2: the text is not UTF-8"},
             {"a.conll", std::string("A O\nb\0 O\n", 9), "a.conll: line 2: the line has a zero byte"},
             {"a.txt",
              "\xff\xfe"
              "A",
              "UTF-16"},
             {"a.jsonl", "{\"text\": 3}\n", "a.jsonl: line 1: the line is not a document"},
             {"a.jsonl", "\n{\"text\": \n", "a.jsonl: line 2: the document is not"},
             {"a.jsonl", R"({"text": "abc", "label": [[0, 4, "X"]]})", "not inside the text, which has 3 code points"},
             {"a.jsonl", R"({"text": "abc", "label": [[2, 2, "X"]]})", "not inside"},
             {"a.jsonl", R"({"text": "abc", "label": [[-1, 2, "X"]]})", "not inside"},
             {"a.jsonl", R"({"text": "abc", "label": [[0.5, 2, "X"]]})", "a whole number"},
             {"a.jsonl", R"({"text": "abc", "label": [[0, 2, 7]]})", "a text"},
             {"a.jsonl", R"({"text": "abc", "label": [[0, 2, ""]]})", "no type"},
             {"a.jsonl", R"({"text": "abc", "label": [[0, 2]]})", "[0,2] is not a span"},
             {"a.jsonl", R"({"text": "a  b", "label": [[1, 3, "X"]]})", "only blanks"},
             {"a.jsonl", R"({"text": "abc", "label": [[0, 2, "X"], [1, 3, "Y"]]})",
              "span [0, 2, X] and span [1, 3, Y] overlap"},
             {"a.jsonl", R"({"text": "abc", "label": [], "spans": []})", "\"spans\" and under \"label\""}}) {
        const std::string message = message_of<BadData>([&] { parse_corpus(bad.content, bad.name); });
        EXPECT_TRUE(has(message, bad.words)) << message;
        EXPECT_TRUE(has(message, bad.name)) << message;
    }
    // The same tags, read by the rules of conlleval.
    const Corpus lenient = parse_corpus("A B-X\nb I-X\nc O\nd I-Y\n", "a.conll", {.tags = TagReading::lenient});
    EXPECT_EQ(shown_mentions(lenient), (Shown{"X:A b", "Y:d"}));
    EXPECT_EQ(lenient.notes.size(), 2u);
}

TEST(NerCorpus, RandomBytesDoNotCrash) {
    std::mt19937_64 random(3);
    const std::string pieces[] = {"A",  " ",         "\t", "\n", "O",        "B-X",      "I-X",        "{\"text\":\"",
                                  "\"", "[",         "]",  "}",  "\xc3\xa9", "\xf0\x9f", "\"label\":", "0,",
                                  "1",  "-DOCSTART-"};
    for (int round = 0; round < 3000; ++round) {
        std::string bytes;
        for (int i = 0; i < 14; ++i) bytes += pieces[random() % std::size(pieces)];
        for (const auto format :
             {CorpusFormat::automatic, CorpusFormat::conll, CorpusFormat::json_lines, CorpusFormat::text})
            try {
                const Corpus corpus = parse_corpus(bytes, "a", {.format = format});
                EXPECT_EQ(corpus.tags().size(), static_cast<std::size_t>(corpus.words()));
            } catch (const BadData&) {
            }
    }
}

TEST(NerUnicode, DetectsInvalidUtf8) {
    using internal::broken_utf8;
    EXPECT_EQ(broken_utf8("aé😀\xed\x9f\xbf"), std::string::npos);
    for (const std::string bad :
         {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80", "\xf0\x9f\x98", "\xff"})
        EXPECT_EQ(broken_utf8("é" + bad), 2u) << ::testing::PrintToString(bad);
}

// The counts that the authors of the corpora publish.
TEST(NerCorpus, PublishedCounts) {
    struct Case {
        std::string file, scheme;
        std::size_t sentences, mentions;
        Index words;
    };
    for (const Case& known : {Case{"conll2003-en/eng.train", "IOB1", 14041, 23499, 203621},
                              Case{"conll2003-en/eng.testa", "IOB1", 3250, 5942, 51362},
                              Case{"wnut17/emerging.dev.conll", "BIO", 1009, 836, 15733},
                              Case{"wnut17/emerging.test.annotated", "BIO", 1287, 1079, 23394},
                              Case{"crossner/politics/dev.txt", "BIO", 541, 3482, 24624},
                              Case{"container-support-sets/samples-wnut-5shot/0.txt", "BIO", 0, 0, 0}}) {
        const std::string path = data_file(known.file);
        if (path.empty()) GTEST_SKIP() << "needs COTERIE_DATA with " << known.file;
        const Corpus corpus = read_corpus(path);
        EXPECT_TRUE(corpus.notes.at(0).text().ends_with(" " + known.scheme)) << corpus.notes.at(0).text();
        if (known.sentences == 0) continue;
        EXPECT_EQ(corpus.sentences.size(), known.sentences) << known.file;
        EXPECT_EQ(shown_mentions(corpus).size(), known.mentions) << known.file;
        EXPECT_EQ(corpus.words(), known.words) << known.file;
    }
}

}  // namespace
}  // namespace coterie::ner
