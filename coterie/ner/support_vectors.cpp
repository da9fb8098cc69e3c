// The notes of an encoder are taken once, because they are the same for both corpora.

#include "coterie/ner/support_vectors.hpp"

#include <set>

#include "coterie/ner/support.hpp"

namespace coterie::ner {
namespace {

SupportVectors split_rows(const std::string& source, const Corpus& support, const Corpus& all,
                          const VectorOptions& options, const Run& run) {
    const WordVectors words = word_vectors(source, all, options, run);
    const std::vector<std::size_t> places = find_sentences(support, all);
    const std::set<std::size_t> taken(places.begin(), places.end());
    const std::vector<Index> first = all.first_words();
    std::vector<Index> of_support, of_others;
    const auto add = [&](std::size_t s, std::vector<Index>& to) {
        for (Index i = first[s]; i < first[s + 1]; ++i) to.push_back(i);
    };
    for (const std::size_t s : places) add(s, of_support);
    for (std::size_t s = 0; s < all.sentences.size(); ++s)
        if (!taken.contains(s)) add(s, of_others);
    return {rows_of(words.vectors, of_support), rows_of(words.vectors, of_others), {}};
}

}  // namespace

SupportVectors support_vectors(const std::string& source, const Corpus& support, const Corpus* other,
                               const VectorOptions& options, const Run& run,
                               const std::function<void(const std::vector<Message>&)>& take_notes) {
    if (other != nullptr && source.ends_with(".npy")) return split_rows(source, support, *other, options, run);
    const WordVectors own = word_vectors(source, support, options, run);
    take_notes(own.notes);
    if (other == nullptr) return {own.vectors, {}, own.layer};
    const WordVectors others = word_vectors(source, *other, options, run);
    if (own.layer.empty()) take_notes(others.notes);
    return {own.vectors, others.vectors, own.layer};
}

}  // namespace coterie::ner
