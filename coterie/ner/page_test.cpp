// Tests the text of the page. Its script is tested in a browser by cli/tests/ner_page_test.py.
#include "coterie/ner/page.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "coterie/base/error.hpp"

namespace coterie::ner {
namespace {

// s_0 = 0, s_1 = 2 x_1, s_2 = 2 x_2: types A and B.
Tagger linear_tagger_of_two(double sharpness) {
    Tagger out;
    out.types = {"A", "B"};
    out.linear = true;
    out.origin = Vector<double>::Zero(2);
    out.prototypes = Matrix<double>::Zero(3, 2);
    out.prototypes(1, 0) = out.prototypes(2, 1) = 2;
    out.bias = Vector<double>::Zero(3);
    out.tag_of = {0, 1, 2};
    out.sharpness = sharpness;
    return out;
}

nlohmann::json about_page(const std::string& page) {
    const std::string start = "id=\"mentions-about\">";
    const std::size_t begin = page.find(start) + start.size();
    return nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST(NerPage, ContainsMentionsInCodePoints) {
    Corpus corpus = parse_corpus("{\"text\": \"\\u00e9\\ud83d\\ude00 </script> word\"}\n", "a.jsonl");
    ASSERT_EQ(corpus.sentences.size(), 1);
    const Index words = corpus.words();
    Matrix<double> vectors = Matrix<double>::Constant(words, 2, -1);
    vectors.row(words - 1) << 0.75, 0.5;
    const Tagger tagger = linear_tagger_of_two(2);
    tagger.tag(corpus, PointsView(vectors), {}, coterie::Run());
    const std::string page = mentions_page(tagger, corpus, PointsView(vectors), {{0, 1, 0.5}},
                                           {"t.coterie", "coterie ner", "today"}, coterie::Run());
    const nlohmann::json about = about_page(page);
    EXPECT_EQ(about["types"], (std::vector<std::string>{"A", "B"}));
    EXPECT_EQ(about["columns"], false);
    ASSERT_EQ(about["sentences"].size(), 1);
    const auto& sentence = about["sentences"][0];
    EXPECT_EQ(sentence["text"], "\u00e9\U0001f600 </script> word");
    EXPECT_EQ(sentence["words"].size(), 2 * static_cast<std::size_t>(words));
    EXPECT_EQ(sentence["words"][0], 0);
    EXPECT_EQ(sentence["words"][sentence["words"].size() - 2], 13);
    EXPECT_EQ(sentence["words"].back(), 17);
    ASSERT_EQ(sentence["mentions"].size(), 1);
    // Scores 0, 1.5 and 1 with sharpness 2 give exp(3) / sum for A and exp(2) / sum for B.
    const double sum = 1 + std::exp(3) + std::exp(2);
    EXPECT_NEAR(sentence["mentions"][0][3], std::exp(3) / sum, 5e-4);
    EXPECT_EQ(sentence["mentions"][0][4], "A, probability 0.71; next B, 0.26");
    EXPECT_NEAR(std::exp(3) / sum, 0.71, 0.005);
    EXPECT_NEAR(std::exp(2) / sum, 0.26, 0.005);
    EXPECT_NE(page.find("about B"), std::string::npos);
    EXPECT_NE(page.find("found by t.coterie"), std::string::npos);
    EXPECT_EQ(page.find("word</script>"), std::string::npos);
}

TEST(NerPage, ShowsMarginsWithoutProbabilities) {
    Corpus corpus = parse_corpus("word\tO\n", "a.conll");
    const Matrix<double> vectors = Matrix<double>::Constant(1, 2, 0.25);
    Matrix<double> other = vectors;
    other(0, 1) = -1;
    const Tagger tagger = linear_tagger_of_two(0);
    tagger.tag(corpus, PointsView(other), {}, coterie::Run());
    const std::string page = mentions_page(tagger, corpus, PointsView(other), {}, {}, coterie::Run());
    EXPECT_EQ(about_page(page)["sentences"][0]["mentions"][0][4], "A, margin 0.5; next no mention");
    EXPECT_EQ(about_page(page)["columns"], true);
    EXPECT_NE(page.find("has no probabilities"), std::string::npos);
    EXPECT_EQ(page.find("probability"), std::string::npos);
}

TEST(NerPage, RejectsVectorsOfWrongShape) {
    const Corpus corpus = parse_corpus("word\tO\n", "a.conll");
    const Matrix<double> two = Matrix<double>::Zero(2, 2);
    const Matrix<double> wide = Matrix<double>::Zero(1, 3);
    EXPECT_THROW(mentions_page(linear_tagger_of_two(1), corpus, PointsView(two), {}, {}, coterie::Run()), BadData);
    EXPECT_THROW(mentions_page(linear_tagger_of_two(1), corpus, PointsView(wide), {}, {}, coterie::Run()), BadData);
}

}  // namespace
}  // namespace coterie::ner
