#include <iostream>

#include <coterie/data/catalogue.hpp>
#include <coterie/io/reader.hpp>
#include <coterie/ner/adapt.hpp>
#include <coterie/ner/scoring.hpp>
#include <coterie/ner/support.hpp>

// Makes a tagger from six of forty sentences, and scores it on all of them.
int main() {
    const std::string folder = coterie::locate_data(coterie::find_data("iris")).parent_path().string() + "/voyages/";
    const auto corpus = coterie::ner::read_corpus(folder + "voyages.conll");
    const auto vectors = coterie::read_points_file(folder + "voyages.npy").points;

    const auto chosen = coterie::ner::sample_support(corpus, {.shots = 3}, coterie::Run());
    const auto support = corpus.subset(chosen);
    const auto first = corpus.first_words();
    std::vector<coterie::Index> known;
    std::vector<coterie::Index> others;
    for (std::size_t s = 0, c = 0; s < corpus.sentences.size(); ++s) {
        const bool taken = c < chosen.size() && chosen[c] == s;
        for (auto i = first[s]; i < first[s + 1]; ++i) (taken ? known : others).push_back(i);
        c += taken;
    }
    coterie::ner::AdaptReport report;
    const auto tagger = coterie::ner::adapt(support, coterie::rows_of(vectors, known),
                                            coterie::rows_of(vectors, others), {}, coterie::Run(), &report);
    auto found = corpus;
    tagger.tag(found, vectors, {}, coterie::Run());
    const auto scores = coterie::ner::score_mentions(corpus, found).micro;
    std::cout << name(report.method) << ": " << scores.right << " of " << scores.marked << " mentions, "
              << scores.found - scores.right << " others\n";
}
