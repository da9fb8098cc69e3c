// A support drawn by the greedy rule is biased, because its sentences were chosen for their mentions. So its share of O
// is smaller than that of the corpus.

#include "coterie/ner/support.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "coterie/base/error.hpp"
#include "coterie/base/text.hpp"
#include "coterie/ner/readers.hpp"

namespace coterie::ner {
namespace {

using coterie::internal::at;
using coterie::internal::filled;

std::string words_of(const Corpus& corpus, const Sentence& sentence) {
    std::string out;
    for (const Word& word : sentence.words) out += filled("{}\n", corpus.text_of(sentence, word));
    return out;
}

}  // namespace

const OptionSet& SampleOptions::described() {
    static const OptionSet set = OptionSetFor<SampleOptions>().integer("shots", &SampleOptions::shots, at_least(1),
                                                                       "minimum number of mentions of each type");
    return set;
}

const OptionSet& SuggestOptions::described() {
    static const OptionSet set = OptionSetFor<SuggestOptions>().integer("count", &SuggestOptions::count, at_least(1),
                                                                        "number of sentences to suggest");
    return set;
}

std::vector<std::size_t> sample_support(const Corpus& corpus, const SampleOptions& options, const Run& run) {
    check_options(options);
    const Index shots = options.shots;
    const std::size_t types = corpus.types.size();
    const std::vector<Index> there = corpus.mentions_of_types();
    std::vector<std::vector<std::size_t>> with(types);  // numbers of the sentences that have the type
    for (std::size_t s = 0; s < corpus.sentences.size(); ++s)
        for (const Mention& mention : corpus.sentences[s].mentions) {
            auto& list = with[at(mention.type)];
            if (list.empty() || list.back() != s) list.push_back(s);
        }
    if (types == 0) throw BadData(Code::empty, "there are no mentions to draw from", "", {.file = corpus.source});
    for (std::size_t t = 0; t < types; ++t)
        if (there[t] < shots)
            throw BadData(
                Code::too_few_rows,
                filled("type {} has {}, fewer than `shots={}`", corpus.types[t], counted(there[t], "mention"), shots),
                "Use a smaller `shots`", {.value = corpus.types[t], .file = corpus.source});
    std::vector<std::size_t> order(types);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return there[a] < there[b]; });
    RandomStream random = run.random("ner.support");
    std::vector<Index> have(types, 0);
    std::vector<bool> taken(corpus.sentences.size(), false);
    std::vector<std::size_t> out;
    for (const std::size_t type : order)
        while (have[type] < shots) {
            std::erase_if(with[type], [&](std::size_t s) { return taken[s]; });
            const std::size_t drawn = with[type][random.below(with[type].size())];
            taken[drawn] = true;
            out.push_back(drawn);
            for (const Mention& mention : corpus.sentences[drawn].mentions) ++have[at(mention.type)];
        }
    std::sort(out.begin(), out.end());
    return out;
}

std::vector<std::size_t> find_sentences(const Corpus& some, const Corpus& all) {
    std::multimap<std::string, std::size_t> places;
    for (std::size_t s = 0; s < all.sentences.size(); ++s) places.emplace(words_of(all, all.sentences[s]), s);
    std::vector<std::size_t> out;
    for (std::size_t s = 0; s < some.sentences.size(); ++s) {
        const auto found = places.find(words_of(some, some.sentences[s]));
        if (found == places.end())
            internal::refuse_sentence(some, s, Code::conflict,
                                      filled("the sentence does not occur in {}, or less often than here", all.source),
                                      "Use sentences of that corpus, with the same words");
        out.push_back(found->second);
        places.erase(found);
    }
    return out;
}

std::vector<Suggestion> suggest_sentences(const Tagger& tagger, const Corpus& corpus, PointsView vectors,
                                          const SuggestOptions& options, const Run& run) {
    check_options(options);
    const Index count = options.count;
    internal::require_row_per_word(vectors, corpus);
    Matrix<double> gaps = tagger.scores(vectors, run);
    for (Index i = 0; i < gaps.rows(); ++i) {
        Index best = 0;
        const double largest = gaps.row(i).maxCoeff(&best);
        double second = -std::numeric_limits<double>::infinity();
        for (Index t = 0; t < gaps.cols(); ++t)
            if (t != best) second = std::max(second, gaps(i, t));
        for (Index t = 0; t < gaps.cols(); ++t) gaps(i, t) -= t == best ? second : largest;
    }
    std::vector<double> sizes;
    for (Index i = 0; i < gaps.rows(); ++i)
        for (Index t = 1; t < gaps.cols(); ++t) sizes.push_back(std::abs(gaps(i, t)));
    const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
    std::nth_element(sizes.begin(), middle, sizes.end());
    const double scale = *middle > 0 && std::isfinite(*middle) ? *middle : 1;

    const std::vector<Index> first = corpus.first_words();
    std::vector<std::vector<Suggestion>> by_type(tagger.types.size());
    for (std::size_t s = 0; s < corpus.sentences.size(); ++s) {
        if (corpus.sentences[s].annotated) continue;
        for (std::size_t t = 0; t < by_type.size(); ++t) {
            Suggestion one{s, static_cast<std::int32_t>(t), 0};
            for (Index i = first[s]; i < first[s + 1]; ++i) {
                const double gap = gaps(i, static_cast<Index>(t) + 1) / scale;
                one.value = std::max(one.value, std::exp(-std::abs(gap)) / (1 + std::exp(-gap)));
            }
            by_type[t].push_back(one);
        }
    }
    for (auto& list : by_type)
        std::stable_sort(list.begin(), list.end(),
                         [](const Suggestion& a, const Suggestion& b) { return a.value > b.value; });
    std::vector<bool> taken(corpus.sentences.size(), false);
    std::vector<std::size_t> next(by_type.size(), 0);
    std::vector<Suggestion> out;
    for (bool more = true; more && static_cast<Index>(out.size()) < count;) {
        more = false;
        for (std::size_t t = 0; t < by_type.size() && static_cast<Index>(out.size()) < count; ++t) {
            while (next[t] < by_type[t].size() && taken[by_type[t][next[t]].sentence]) ++next[t];
            if (next[t] == by_type[t].size()) continue;
            out.push_back(by_type[t][next[t]]);
            taken[out.back().sentence] = true;
            more = true;
        }
    }
    return out;
}

}  // namespace coterie::ner
