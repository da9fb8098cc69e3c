// Compares baselines with plain loops, and Viterbi with a search of all sequences. Checks the optimality conditions of
// logistic regression.
// Also tests the automatic choice, shares, saving, and input that is not valid.

#include "coterie/ner/tagger.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "coterie/ner/adapt.hpp"
#include "coterie/ner/internal/calibration.hpp"
#include "coterie/ner/support.hpp"
#include "tests/support/test_files.hpp"
#include "tests/support/test_support.hpp"

namespace coterie::ner {
namespace {

using coterie::internal::at;
using coterie::testing::Folder;
using coterie::testing::has;

// A corpus whose word vectors lie around one centre per tag in the first three of d columns. The other columns are
// noise.
struct World {
    Corpus corpus;
    Matrix<float> vectors;
};

World world(int sentences, std::uint64_t seed, double distance = 6, Index d = 8, double noise = 1) {
    RandomStream random(seed, "test.ner");
    std::string file;
    std::vector<int> tags;
    for (int s = 0; s < sentences; ++s) {
        for (int w = 0; w < 10; ++w) {
            const int tag = w == 3 ? 1 : (w == 6 || w == 7) ? 2 : 0;
            tags.push_back(tag);
            const std::string word = "w" + std::to_string(random.below(50));
            file += word + (tag == 0 ? " O\n" : tag == 1 ? " B-PER\n" : w == 6 ? " B-LOC\n" : " I-LOC\n");
        }
        file += "\n";
    }
    World out{parse_corpus(file, "world.conll"), Matrix<float>(static_cast<Index>(tags.size()), d)};
    for (Index i = 0; i < out.vectors.rows(); ++i)
        for (Index p = 0; p < d; ++p)
            out.vectors(i, p) =
                static_cast<float>((p < 3 ? 1 : noise) * random.normal() + (p == tags[at(i)] ? distance : 0.0) + 2);
    return out;
}

Tagger adapted(const World& support, const Matrix<float>& other, AdaptOptions options, AdaptReport* report = nullptr) {
    return adapt(support.corpus, support.vectors, other, options, coterie::Run(0, 2), report);
}

double f1_on(const Tagger& tagger, const World& gold) {
    Corpus found = gold.corpus;
    tagger.tag(found, gold.vectors, {}, coterie::Run(0, 2));
    return score_mentions(gold.corpus, found).micro.f1();
}

TEST(NerTagger, EveryMethodFindsEasyMentions) {
    const World support = world(6, 1);
    const World other = world(60, 2);
    const World fresh = world(40, 3);
    for (const Adaptation method : {Adaptation::kmeans, Adaptation::support_space, Adaptation::discriminant,
                                    Adaptation::logistic, Adaptation::prototypes, Adaptation::nearest_word}) {
        const Tagger tagger = adapted(support, other.vectors, {.method = method});
        EXPECT_GT(f1_on(tagger, fresh), 0.95) << name(method);
        EXPECT_EQ(tagger.method, name(method));
    }
    EXPECT_GT(
        f1_on(adapted(support, other.vectors, {.method = Adaptation::kmeans, .assignment = Assignment::soft}), fresh),
        0.95);
}

TEST(NerTagger, BaselinesAgreeWithPlainLoops) {
    const World support = world(4, 5, 2);
    const World fresh = world(5, 6, 2);
    const Labels tags = support.corpus.tags();
    const Matrix<double> x = fresh.vectors.cast<double>();
    const Matrix<double> s = support.vectors.cast<double>();
    Matrix<double> means = Matrix<double>::Zero(3, s.cols());
    Vector<double> counts = Vector<double>::Zero(3);
    for (Index i = 0; i < s.rows(); ++i) {
        means.row(tags[at(i)]) += s.row(i);
        counts[tags[at(i)]] += 1;
    }
    for (Index t = 0; t < 3; ++t) means.row(t) /= counts[t];
    const Matrix<double> proto =
        adapted(support, {}, {.method = Adaptation::prototypes}).scores(fresh.vectors, coterie::Run(0, 1));
    const Matrix<double> nearest =
        adapted(support, {}, {.method = Adaptation::nearest_word}).scores(fresh.vectors, coterie::Run(0, 1));
    for (Index i = 0; i < x.rows(); ++i)
        for (Index t = 0; t < 3; ++t) {
            EXPECT_NEAR(proto(i, t), -0.5 * (x.row(i) - means.row(t)).squaredNorm(), 1e-4);
            double least = 1e30;
            for (Index j = 0; j < s.rows(); ++j)
                if (tags[at(j)] == t) least = std::min(least, (x.row(i) - s.row(j)).squaredNorm());
            EXPECT_NEAR(nearest(i, t), -least, 1e-4);
        }
}

TEST(NerTagger, LogisticRegressionIsOptimal) {
    const World support = world(8, 7, 1.5);
    const Tagger tagger = adapted(support, {}, {.method = Adaptation::logistic});
    const Matrix<double> scores = tagger.scores(support.vectors, coterie::Run(0, 1));
    const Labels tags = support.corpus.tags();
    // V + sum_i (sigma_i - y_i) x_i' = 0 for C = 1, and the same for the bias, without V.
    Matrix<double> gradient = tagger.prototypes;
    Vector<double> of_bias = Vector<double>::Zero(3);
    for (Index i = 0; i < scores.rows(); ++i) {
        const double sum = scores.row(i).array().exp().sum();
        for (Index t = 0; t < 3; ++t) {
            const double residual = std::exp(scores(i, t)) / sum - (tags[at(i)] == t ? 1 : 0);
            gradient.row(t) += residual * support.vectors.row(i).cast<double>();
            of_bias[t] += residual;
        }
    }
    EXPECT_LT(gradient.cwiseAbs().maxCoeff(), 1e-5);
    EXPECT_LT(of_bias.cwiseAbs().maxCoeff(), 1e-5);
}

TEST(NerTagger, ViterbiAgreesWithBruteForce) {
    const World support = world(4, 8, 1.2);
    World fresh = world(6, 9, 1.2);
    const Tagger tagger = adapted(support, {}, {.method = Adaptation::nearest_word});
    const Matrix<double> scores = tagger.scores(fresh.vectors, coterie::Run(0, 1));
    const Matrix<double> steps = tagger.transitions.logarithms(3);
    for (Index from = 0; from < 4; ++from) EXPECT_NEAR(steps.row(from).array().exp().sum(), 1, 1e-4);
    Corpus found = fresh.corpus;
    tagger.tag(found, fresh.vectors, {Decoding::viterbi}, coterie::Run(0, 1));
    const Labels tags = found.tags();
    for (Index s = 0; s < 6; ++s) {
        double best = -1e30;
        std::vector<std::int32_t> winner;
        for (int code = 0; code < 59049; ++code) {  // 3^10
            double value = 0;
            std::vector<std::int32_t> sequence;
            for (int w = 0, rest = code; w < 10; ++w, rest /= 3) {
                const std::int32_t tag = rest % 3;
                const auto row = scores.row(10 * s + w);
                value += row[tag] - std::log((row.array() - row.maxCoeff()).exp().sum()) - row.maxCoeff() +
                         steps(w == 0 ? 3 : sequence.back(), tag);
                sequence.push_back(tag);
            }
            if (value > best) {
                best = value;
                winner = sequence;
            }
        }
        EXPECT_EQ(winner, std::vector<std::int32_t>(tags.begin() + 10 * s, tags.begin() + 10 * s + 10));
    }
}

TEST(NerTagger, TransitionsByHand) {
    const Transitions t = Transitions::of(parse_corpus("a B-X\nb I-X\nc O\nd O\ne B-X\nf B-Y\n\ng O\n", "a.conll"));
    EXPECT_EQ(t.start_type, 1);
    EXPECT_EQ(t.start_outside, 1);
    EXPECT_EQ(t.type_same, 1);
    EXPECT_EQ(t.type_outside, 1);
    EXPECT_EQ(t.outside_outside, 1);
    EXPECT_EQ(t.outside_type, 1);
    EXPECT_EQ(t.type_other, 1);
    const Matrix<double> logs = t.logarithms(3);
    // From O: 1/2 to O, 1/4 to each type.
    const double a = std::pow(0.5, 0.05);
    const double b = std::pow(0.25, 0.05);
    EXPECT_NEAR(logs(0, 0), std::log(a / (a + 2 * b)), 1e-12);
    EXPECT_NEAR(logs(0, 2), std::log(b / (a + 2 * b)), 1e-12);
}

TEST(NerTagger, MarginIsTheSmallestOfItsWords) {
    const World support = world(6, 1);
    World fresh = world(3, 3);
    const Tagger tagger = adapted(support, {}, {.method = Adaptation::prototypes});
    const Matrix<double> scores = tagger.scores(fresh.vectors, coterie::Run(0, 1));
    tagger.tag(fresh.corpus, fresh.vectors, {}, coterie::Run(0, 1));
    for (std::size_t s = 0; s < 3; ++s)
        for (const Mention& mention : fresh.corpus.sentences[s].mentions) {
            double least = 1e30;
            for (std::size_t w = mention.begin; w < mention.end; ++w) {
                Vector<double> row = scores.row(static_cast<Index>(10 * s + w)).transpose();
                std::sort(row.data(), row.data() + row.size());
                least = std::min(least, row[2] - row[1]);
            }
            EXPECT_DOUBLE_EQ(mention.margin, least);
            EXPECT_GT(mention.margin, 0);
        }
}

// Tags are drawn from the probabilities of a known sharpness. The calibration must find this sharpness, and other
// values must be less likely.
TEST(NerCalibration, RecoversTheSharpness) {
    RandomStream random(4, "test.calibration");
    const Index n = 4000;
    for (const double truth : {0.02, 2.5}) {
        Matrix<double> scores(n, 3);
        Labels tags;
        for (Index i = 0; i < n; ++i) {
            for (Index t = 0; t < 3; ++t) scores(i, t) = random.normal() / truth;
            double left = random.uniform();
            std::int32_t tag = 0;
            while (tag < 2 && (left -= internal::probability(scores.row(i).data(), 3, tag, truth, 0)) > 0) ++tag;
            tags.push_back(tag);
        }
        const double found = internal::sharpness_of(scores, tags);
        EXPECT_NEAR(found / truth, 1, 0.1);
        const auto log_likelihood = [&](double a) {
            double sum = 0;
            for (Index i = 0; i < n; ++i)
                for (Index t = 0; t < 3; ++t) {
                    const double share = 1.0 / (static_cast<double>(n) + 2);
                    sum += (t == tags[static_cast<std::size_t>(i)] ? 1 - share : share / 2) *
                           std::log(internal::probability(scores.row(i).data(), 3, t, a, 0));
                }
            return sum;
        };
        for (const double factor : {0.9, 0.99, 1.01, 1.1})
            EXPECT_GT(log_likelihood(found), log_likelihood(factor * found));
    }
}

TEST(NerCalibration, ExtremeCases) {
    const double never = -std::numeric_limits<double>::infinity();
    Matrix<double> scores(4, 3);
    scores << 3, 0, never, 0, 5, never, 4, 1, never, 0, 2, never;
    const double right = internal::sharpness_of(scores, {0, 1, 0, 1});  // all right: a is large, but bounded
    EXPECT_GT(right, 0.1);
    EXPECT_LT(right, 10);
    EXPECT_EQ(internal::sharpness_of(scores, {1, 0, 1, 0}), 0);  // all wrong
    EXPECT_EQ(internal::sharpness_of(Matrix<double>(0, 3), {}), 0);
    EXPECT_EQ(internal::sharpness_of(Matrix<double>::Ones(4, 3), {0, 1, 2, 0}), 0);
    EXPECT_EQ(internal::probability(scores.row(0).data(), 3, 2, 1, 0), 0);
    EXPECT_NEAR(internal::probability(scores.row(0).data(), 3, 0, 1, 0), 1 / (1 + std::exp(-3.0)), 1e-15);
    EXPECT_NEAR(internal::probability(scores.row(0).data(), 3, 1, 1e300, 0), 0, 1e-300);
}

TEST(NerCalibration, ShiftChangesTheOutsideShare) {
    // O, A and B occur equally often, and s_t = log density. The shift must give Bayes' rule for a text with 90 % O.
    const Labels tags = {0, 1, 2, 0, 1, 2};
    const double shift = internal::shift_of(tags, 0.9);
    const std::array<double, 3> scores = {-1.5, -0.3, -2.0};
    const std::array<double, 3> priors = {0.9, 0.05, 0.05};
    double sum = 0;
    for (std::size_t t = 0; t < 3; ++t) sum += priors[t] * std::exp(scores[t]);
    for (std::size_t t = 0; t < 3; ++t)
        EXPECT_NEAR(internal::probability(scores.data(), 3, static_cast<Index>(t), 1, shift),
                    priors[t] * std::exp(scores[t]) / sum, 1e-14);
    EXPECT_NEAR(internal::shift_of(tags, 1.0 / 3), 0, 1e-15);
    EXPECT_NEAR(internal::shift_of({0, 0, 0}, 1), 0, 1e-15);  // neither is nearer to 1 than 1 - 1 / 8
    EXPECT_NEAR(internal::shift_of({0, 1}, 0), std::log(1.0 / 5), 1e-15);
    EXPECT_EQ(internal::shift_of({}, 0.5), 0);
}

TEST(NerAdapt, CalibratesProbabilitiesByLeavingOutSentences) {
    const World support = world(8, 1, 4, 30, 3);
    World fresh = world(40, 2, 4, 30, 3);
    for (const auto method : {Adaptation::prototypes, Adaptation::kmeans, Adaptation::logistic}) {
        AdaptReport report;
        const Tagger tagger = adapted(support, {}, {.method = method}, &report);
        EXPECT_EQ(report.calibrated_on, support.corpus.words());
        EXPECT_GT(tagger.sharpness, 0);
        tagger.tag(fresh.corpus, fresh.vectors, {}, coterie::Run(0, 1));
        for (const Sentence& sentence : fresh.corpus.sentences)
            for (const Mention& mention : sentence.mentions) {
                EXPECT_GT(mention.probability, 1.0 / 3 - 1e-12);  // no other tag is more probable
                EXPECT_LE(mention.probability, 1.0);
            }
    }
    const std::size_t one[] = {0};
    AdaptReport report;
    const Corpus single = support.corpus.subset(one);
    const Tagger tagger = adapt(single, PointsView(Matrix<float>(support.vectors.topRows(single.words()))),
                                PointsView(), {.method = Adaptation::prototypes}, coterie::Run(0, 1), &report);
    EXPECT_EQ(report.calibrated_on, 0);
    EXPECT_EQ(tagger.sharpness, 0);
}

TEST(NerAdapt, OutsideShareShiftsProbabilities) {
    const World support = world(8, 1, 4, 30, 3);
    World fresh = world(40, 2, 4, 30, 3);
    const Tagger plain = adapted(support, fresh.vectors, {.method = Adaptation::prototypes, .outside_share = "none"});
    const Tagger shifted =
        adapted(support, fresh.vectors, {.method = Adaptation::prototypes, .outside_share = "0.9:0.94"});
    EXPECT_EQ(plain.outside_shift, 0);
    EXPECT_FALSE(plain.outside_share);
    EXPECT_EQ(shifted.outside_share, std::pair(0.9, 0.94));
    double outside = 0;
    for (const Sentence& sentence : support.corpus.sentences) {
        outside += static_cast<double>(sentence.words.size());
        for (const Mention& mention : sentence.mentions) outside -= static_cast<double>(mention.end - mention.begin);
    }
    EXPECT_NEAR(plain.support_outside_share, outside / static_cast<double>(support.corpus.words()), 1e-12);
    EXPECT_EQ(plain.sharpness, shifted.sharpness);
    EXPECT_NEAR(shifted.outside_shift, internal::shift_of(support.corpus.tags(), 0.92), 1e-12);
    EXPECT_GT(shifted.outside_shift, 0.1);
    Corpus before = fresh.corpus;
    plain.tag(before, fresh.vectors, {}, coterie::Run(0, 1));
    Corpus after = fresh.corpus;
    shifted.tag(after, fresh.vectors, {}, coterie::Run(0, 1));
    Index mentions = 0;
    for (std::size_t s = 0; s < before.sentences.size(); ++s) {
        ASSERT_EQ(before.sentences[s].mentions.size(), after.sentences[s].mentions.size());  // but less probable
        for (std::size_t m = 0; m < before.sentences[s].mentions.size(); ++m, ++mentions)
            EXPECT_LT(after.sentences[s].mentions[m].probability, before.sentences[s].mentions[m].probability);
    }
    EXPECT_GT(mentions, 20);
}

TEST(NerAdapt, ChoosesTheBestMethodOnTheSupport) {
    const World support = world(8, 1, 4, 30, 3);
    const World other = world(80, 2, 4, 30, 3);
    AdaptReport report;
    const Tagger tagger = adapted(support, other.vectors, {}, &report);
    ASSERT_EQ(report.compared.size(), 4u);
    double best = 0;
    for (const auto& [method, counts] : report.compared) {
        EXPECT_EQ(counts.marked, 16);
        best = std::max(best, counts.f1());
    }
    for (const auto& [method, counts] : report.compared) {
        if (method != report.method) continue;
        // If another method is better than the one taken, the report says why.
        EXPECT_EQ(counts.f1() < best, has(report.chosen_because, "within a standard error of the largest"));
    }
    EXPECT_TRUE(has(report.chosen_because, "when leaving out each of 8 sentences of the support in turn"));
    EXPECT_EQ(tagger.method, name(report.method));
    // With one sentence, there is nothing to compare.
    adapted(world(1, 4), other.vectors.leftCols(8), {}, &report);
    EXPECT_TRUE(report.compared.empty());
    EXPECT_TRUE(has(report.chosen_because, "nothing could be compared"));
}

// The other words differ from the support and move a prototype away. Then a method that uses only the support wins.
TEST(NerAdapt, ChoosesASupportOnlyMethodIfBetter) {
    const World support = world(10, 1, 5);
    Matrix<float> other = world(200, 2, 5).vectors;
    other.col(1).array() += 5;  // nearer to PER than to any other centre, and far away
    other.col(2).array() -= 2;
    other.col(5).array() += 12;
    AdaptReport report;
    adapted(support, other, {.outside_share = "none"}, &report);
    EXPECT_TRUE(report.method == Adaptation::discriminant || report.method == Adaptation::logistic)
        << name(report.method);
    EXPECT_GT(report.compared[2].second.f1(), report.compared[0].second.f1());
}

TEST(NerAdapt, SharesAreUsedAndReported) {
    const World support = world(6, 1);
    const World other = world(60, 2);
    AdaptReport report;
    adapted(support, other.vectors, {.method = Adaptation::kmeans}, &report);
    ASSERT_TRUE(report.outside_share);
    EXPECT_NEAR(report.outside_share->first, 0.7, 0.02);
    EXPECT_TRUE(has(report.share_origin, "estimated"));
    adapted(world(4, 1), other.vectors, {.method = Adaptation::kmeans}, &report);
    EXPECT_FALSE(report.outside_share);
    EXPECT_EQ(report.share_origin, "none: PER has 4 mentions, and each type needs 5");
    adapted(support, other.vectors, {.method = Adaptation::kmeans, .outside_share = "0.6:0.8"}, &report);
    EXPECT_EQ(report.outside_share, std::pair(0.6, 0.8));
    EXPECT_EQ(report.share_origin, "as given");
    adapted(support, {}, {.method = Adaptation::kmeans, .outside_share = "0.6:0.9"}, &report);
    EXPECT_EQ(report.outside_share, std::pair(0.7, 0.7));
    EXPECT_EQ(report.share_origin, "as given, but the support's tags allow only 0.7 to 0.7");
    adapted(support, other.vectors, {.method = Adaptation::logistic, .outside_share = "0.7"}, &report);
    EXPECT_FALSE(report.outside_share);  // the method uses no share
    EXPECT_TRUE(has(report.share_origin, "logistic uses it only for probabilities"));
}

TEST(NerAdapt, SameBitsAtAnyNumberOfThreads) {
    const World support = world(6, 1, 2, 20, 2);
    const World other = world(60, 2, 2, 20, 2);
    std::vector<Matrix<double>> scores;
    for (const int threads : {1, 2, 8})
        scores.push_back(adapt(support.corpus, support.vectors, other.vectors, {}, coterie::Run(0, threads))
                             .scores(other.vectors, coterie::Run(0, threads)));
    EXPECT_EQ(scores[0], scores[1]);
    EXPECT_EQ(scores[0], scores[2]);
}

TEST(NerAdapt, RejectsBadArguments) {
    const World support = world(6, 1);
    const World other = world(10, 2);
    using coterie::testing::message_of;
    const auto message = [&](const Corpus& corpus, const Matrix<float>& vectors, const Matrix<float>& others,
                             const AdaptOptions& options = {}) {
        return coterie::test::message_of([&] { adapt(corpus, vectors, others, options, coterie::Run(0, 1)); });
    };
    EXPECT_TRUE(has(message(support.corpus, other.vectors, {}), "100 rows for the 60 words of world.conll"));
    EXPECT_TRUE(
        has(message(support.corpus, support.vectors, other.vectors.leftCols(3)), "8 columns for the support, but 3"));
    EXPECT_TRUE(has(message(parse_corpus("a\nb\n", "x.conll"), support.vectors.topRows(2), {}),
                    "x.conll: line 1: the sentence is not"));
    EXPECT_TRUE(has(message(parse_corpus("a O\nb O\n", "x.conll"), support.vectors.topRows(2), {}), "has no mentions"));
    EXPECT_TRUE(
        has(message(parse_corpus("a B-X\nb I-X\n", "x.conll"), support.vectors.topRows(2), {}), "no word outside"));
    const std::size_t one[] = {0};
    Corpus part = support.corpus.subset(one);
    part.types.push_back("NEVER");
    EXPECT_TRUE(has(message(part, support.vectors.topRows(10), {}), "type NEVER has no mention"));
    Matrix<float> broken = support.vectors;
    broken(7, 2) = std::nanf("");
    EXPECT_TRUE(has(message(support.corpus, broken, {}), "row 8"));
    for (const char* const bad : {"1.5", "x", "0.9:0.8", "0.9:", "", "nan"})
        EXPECT_TRUE(
            has(message(support.corpus, support.vectors, other.vectors, {.outside_share = bad}), "outside_share"))
            << bad;
    EXPECT_TRUE(has(message(support.corpus, support.vectors, {}, {.outside_share = "0.1"}), "from 0.7"));
}

TEST(NerTagger, RoundTrip) {
    const Folder folder;
    const World support = world(6, 1);
    const World fresh = world(3, 3);
    for (const Adaptation method : {Adaptation::kmeans, Adaptation::logistic, Adaptation::nearest_word}) {
        Tagger tagger = adapted(support, fresh.vectors, {.method = method});
        tagger.encoder = "folder";
        tagger.layer = "3";
        tagger.outside_shift = 0.25;
        tagger.support_outside_share = 0.75;
        tagger.outside_share.reset();
        if (method == Adaptation::logistic) tagger.outside_share = {0.8, 0.9};
        tagger.save(folder / "m.coterie");
        const Tagger loaded = Tagger::load(folder / "m.coterie");
        EXPECT_EQ(loaded.scores(fresh.vectors, coterie::Run(0, 1)), tagger.scores(fresh.vectors, coterie::Run(0, 1)))
            << name(method);
        EXPECT_EQ(loaded.types, tagger.types);
        EXPECT_EQ(loaded.layer, "3");
        EXPECT_EQ(loaded.outside_shift, 0.25);
        EXPECT_EQ(loaded.support_outside_share, 0.75);
        EXPECT_EQ(loaded.outside_share, tagger.outside_share);
        EXPECT_EQ(loaded.transitions.type_same, tagger.transitions.type_same);
    }
    Tagger strange = adapted(support, fresh.vectors, {.method = Adaptation::prototypes});
    strange.outside_share = {0.8, 1.5};
    strange.save(folder / "strange.coterie");
    EXPECT_TRUE(has(coterie::test::message_of([&] { Tagger::load(folder / "strange.coterie"); }),
                    "strange.coterie: a share of words outside mentions is not from 0 to 1"));
    std::string bytes = coterie::testing::contents(folder / "m.coterie");
    bytes[bytes.size() / 2] ^= 1;
    EXPECT_TRUE(
        has(coterie::test::message_of([&] { Tagger::load(folder.file("bad.coterie", bytes)); }), "bad.coterie"));
}

TEST(NerSupport, SampleHasShotsOfEveryType) {
    const World all = world(50, 4);
    for (const int shots : {1, 5, 20}) {
        const auto chosen = sample_support(all.corpus, {shots}, coterie::Run(3));
        const Corpus support = all.corpus.subset(chosen);
        std::vector<Index> mentions(2, 0);
        for (const Sentence& sentence : support.sentences)
            for (const Mention& mention : sentence.mentions) ++mentions[at(mention.type)];
        EXPECT_GE(std::min(mentions[0], mentions[1]), shots);
        EXPECT_EQ(static_cast<Index>(chosen.size()), shots);  // both types are in every sentence
        EXPECT_EQ(chosen, sample_support(all.corpus, {shots}, coterie::Run(3)));
        EXPECT_NE(chosen, sample_support(all.corpus, {shots}, coterie::Run(4)));
        EXPECT_EQ(find_sentences(support, all.corpus), chosen);
    }
    EXPECT_TRUE(has(coterie::test::message_of([&] { sample_support(all.corpus, {51}, coterie::Run(0)); }),
                    "has 50 mentions, fewer than shots=51"));
    const Corpus strange = parse_corpus("never O\nseen O\n", "s.conll");
    EXPECT_TRUE(
        has(coterie::test::message_of([&] { find_sentences(strange, all.corpus); }), "s.conll: line 1: the sentence"));
}

TEST(NerSupport, SuggestsUncertainSentences) {
    const World support = world(6, 1);
    World all = world(30, 2);
    for (Sentence& sentence : all.corpus.sentences) sentence.annotated = false;
    const Tagger tagger = adapted(support, all.vectors, {.method = Adaptation::prototypes});
    // One word is halfway between O and PER.
    const Matrix<double> c = tagger.prototypes;
    all.vectors.row(175) = (0.5 * (c.row(0) + c.row(1)) + tagger.origin.transpose()).cast<float>();
    const auto suggested = suggest_sentences(tagger, all.corpus, all.vectors, {4}, coterie::Run(0, 1));
    ASSERT_EQ(suggested.size(), 4u);
    EXPECT_EQ(suggested[0].sentence, 17u);
    EXPECT_EQ(suggested[0].type, 0);
    EXPECT_NEAR(suggested[0].value, 0.5, 1e-3);
    EXPECT_EQ(suggested[1].type, 1);
    all.corpus.sentences[17].annotated = true;
    for (const Suggestion& one : suggest_sentences(tagger, all.corpus, all.vectors, {100}, coterie::Run(0, 1)))
        EXPECT_NE(one.sentence, 17u);
}

}  // namespace
}  // namespace coterie::ner
