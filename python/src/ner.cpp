// Named entities (coterie/ner/): corpora and taggers as classes, and the functions of the module. python/coterie/ner.py
// has their names and docstrings for users.

#include "core.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "coterie/base/text.hpp"
#include "coterie/data/catalogue.hpp"
#include "coterie/ner/adapt.hpp"
#include "coterie/ner/page.hpp"
#include "coterie/ner/scoring.hpp"
#include "coterie/ner/source.hpp"
#include "coterie/ner/support.hpp"
#include "coterie/ner/tagger.hpp"
#include "coterie/ner/vectors.hpp"

namespace coterie::python {
namespace {

using internal::filled;

using ner::Corpus;
using ner::Tagger;

nb::list words_of(const Corpus& corpus) {
    return list_of(corpus.sentences, [&](const ner::Sentence& sentence) {
        return list_of(sentence.words,
                       [&](const ner::Word& word) { return std::string(corpus.text_of(sentence, word)); });
    });
}

nb::list mentions_of(const Corpus& corpus) {
    return list_of(corpus.sentences, [&](const ner::Sentence& sentence) {
        return list_of(sentence.mentions, [&](const ner::Mention& mention) {
            return nb::make_tuple(mention.begin, mention.end, corpus.types[static_cast<std::size_t>(mention.type)],
                                  mention.margin, mention.probability);
        });
    });
}

// A list of (begin, end, type, text, margin, probability) per document.
nb::list spans_of(const Corpus& corpus) {
    return list_of(corpus.text_spans(), [&](const std::vector<ner::TextSpan>& document) {
        return list_of(document, [&](const ner::TextSpan& span) {
            return nb::make_tuple(span.begin, span.end, corpus.types[static_cast<std::size_t>(span.mention.type)],
                                  span.text, span.mention.margin, span.mention.probability);
        });
    });
}

// The complete state of a corpus, for pickle.
using WordState = std::pair<std::size_t, std::size_t>;
using MentionState = std::tuple<std::size_t, std::size_t, std::int32_t, double, double>;
using SentenceState = std::tuple<std::size_t, std::vector<WordState>, std::vector<MentionState>, bool, Index>;
using CorpusState = std::tuple<std::vector<std::pair<std::string, std::string>>, std::vector<SentenceState>,
                               std::vector<std::string>, int, std::string, std::vector<Message>>;

CorpusState state_of(const Corpus& corpus) {
    CorpusState out{{}, {}, corpus.types, static_cast<int>(corpus.format), corpus.source, corpus.notes};
    for (const ner::Document& document : corpus.documents)
        std::get<0>(out).emplace_back(document.text, document.record);
    for (const ner::Sentence& sentence : corpus.sentences) {
        std::vector<WordState> words;
        for (const ner::Word& word : sentence.words) words.emplace_back(word.begin, word.end);
        std::vector<MentionState> mentions;
        for (const ner::Mention& m : sentence.mentions)
            mentions.emplace_back(m.begin, m.end, m.type, m.margin, m.probability);
        std::get<1>(out).emplace_back(sentence.document, std::move(words), std::move(mentions), sentence.annotated,
                                      sentence.line);
    }
    return out;
}

Corpus corpus_of_state(const CorpusState& state) {
    const auto& [documents, sentences, types, format, source, notes] = state;
    Corpus out{{}, {}, types, static_cast<ner::CorpusFormat>(format), source, notes};
    for (const auto& [text, record] : documents) out.documents.push_back({text, record});
    for (const auto& [document, words, mentions, annotated, line] : sentences) {
        ner::Sentence& sentence = out.sentences.emplace_back();
        sentence.document = document;
        for (const auto& [begin, end] : words) sentence.words.push_back({begin, end});
        for (const auto& [begin, end, type, margin, probability] : mentions)
            sentence.mentions.push_back({begin, end, type, margin, probability});
        sentence.annotated = annotated;
        sentence.line = line;
    }
    return out;
}

// One document, with a space between words and a line end after each sentence.
Corpus corpus_of_words(const std::vector<std::vector<std::string>>& sentences) {
    Corpus out;
    out.source = "words";
    std::string& text = out.documents.emplace_back().text;
    const auto refuse = [](std::string problem) {
        throw BadData(Code::empty, std::move(problem), "", {.option = "sentences"});
    };
    for (std::size_t s = 0; s < sentences.size(); ++s) {
        if (sentences[s].empty()) refuse(filled("sentence {} has no words", s));
        ner::Sentence& sentence = out.sentences.emplace_back();
        for (const std::string& word : sentences[s]) {
            if (word.empty()) refuse(filled("sentence {} has an empty word", s));
            if (!sentence.words.empty()) text += ' ';
            sentence.words.push_back({text.size(), text.size() + word.size()});
            text += word;
        }
        text += '\n';
    }
    if (sentences.empty()) refuse("there are no sentences");
    return out;
}

nb::dict dict_of(const ner::MentionCounts& counts) {
    return dict_with({{"marked", counts.marked},
                      {"found", counts.found},
                      {"right", counts.right},
                      {"precision", counts.precision()},
                      {"recall", counts.recall()},
                      {"f1", counts.f1()}});
}

nb::tuple vectors_of(const std::string& source, const Corpus& corpus, const nb::dict& given, int threads) {
    const auto options = options_of<ner::VectorOptions>(given);
    const ner::WordVectors found =
        Host(0, threads).work([&](const Run& run) { return ner::word_vectors(source, corpus, options, run); });
    return nb::make_tuple(array_of_points(found.vectors.view()), found.layer, found.notes);
}

nb::object share_of(const std::optional<std::pair<double, double>>& share) {
    return share ? nb::object(nb::make_tuple(share->first, share->second)) : nb::none();
}

nb::tuple adapted(const Corpus& support, nb::handle vectors, nb::handle other, const nb::dict& given,
                  std::uint64_t seed, int threads) {
    const auto options = options_of<ner::AdaptOptions>(given);
    const Points own = points_of(vectors);
    const Points others = other.is_none() ? Points() : points_of(other);
    ner::AdaptReport report;
    Tagger tagger = Host(seed, threads).work([&](const Run& run) {
        return ner::adapt(support, own, others, options, run, &report);
    });
    nb::dict compared;
    for (const auto& [method, counts] : report.compared)
        compared[std::string(ner::name(method)).c_str()] = dict_of(counts);
    const nb::dict told = dict_with({{"method", tagger.method},
                                     {"chosen_because", report.chosen_because},
                                     {"compared", compared},
                                     {"outside_share", share_of(report.outside_share)},
                                     {"share_origin", report.share_origin},
                                     {"warnings", report.warnings}});
    return nb::make_tuple(std::move(tagger), told);
}

nb::dict trained(const std::string& encoder, const std::vector<Corpus>& corpora, const std::string& out,
                 const nb::dict& given, std::uint64_t seed, int threads, const std::string& checkpoint) {
    const auto options = options_of<ner::SourceOptions>(given);
    const ner::SourceReport report = Host(seed, threads).work([&](Run& run) {
        run.checkpoint = checkpoint;
        return ner::train_source(encoder, corpora, out, options, run);
    });
    return dict_with({{"loss_per_epoch", report.loss_per_epoch},
                      {"words", report.words},
                      {"words_trained", report.words_trained},
                      {"distance", report.distance.empty() ? nb::none() : nb::cast(report.distance)},
                      {"seconds", report.seconds},
                      {"warnings", report.warnings}});
}

Corpus tagged(const Tagger& tagger, const Corpus& corpus, nb::handle vectors, const nb::dict& given, int threads) {
    const auto options = options_of<ner::TagOptions>(given);
    const Points rows = points_of(vectors);
    return Host(0, threads).work([&](const Run& run) {
        Corpus out = corpus;
        tagger.tag(out, rows, options, run);
        return out;
    });
}

nb::list suggested(const Tagger& tagger, const Corpus& corpus, nb::handle vectors, const nb::dict& given, int threads) {
    const auto options = options_of<ner::SuggestOptions>(given);
    const Points rows = points_of(vectors);
    const auto found = Host(0, threads).work([&](const Run& run) {
        return ner::suggest_sentences(tagger, corpus, rows, options, run);
    });
    return list_of(found, [&](const ner::Suggestion& one) {
        return nb::make_tuple(one.sentence, tagger.types[static_cast<std::size_t>(one.type)], one.value);
    });
}

std::string page_of(const Tagger& tagger, const Corpus& corpus, nb::handle vectors, const nb::dict& tagging,
                    const nb::dict& suggesting, int threads) {
    const auto options = options_of<ner::TagOptions>(tagging);
    const auto suggest = options_of<ner::SuggestOptions>(suggesting);
    const Points rows = points_of(vectors);
    return Host(0, threads).work([&](const Run& run) {
        Corpus found = corpus;
        tagger.tag(found, rows, options, run);
        return ner::mentions_page(tagger, found, rows, ner::suggest_sentences(tagger, corpus, rows, suggest, run), {},
                                  run);
    });
}

nb::tuple scored(const Corpus& gold, const Corpus& found) {
    const ner::MentionScores scores = ner::score_mentions(gold, found);
    nb::dict types;
    for (const auto& [type, counts] : scores.types) types[type.c_str()] = dict_of(counts);
    return nb::make_tuple(dict_of(scores.micro), types);
}

}  // namespace

void add_ner(nb::module_& module) {
    using namespace nb::literals;
    nb::class_<Corpus>(module, "NerCorpus")
        .def_prop_ro("words", &words_of)
        .def_prop_ro("mentions", &mentions_of)
        .def_prop_ro("annotated", [](const Corpus& c) { return list_of(c.sentences, &ner::Sentence::annotated); })
        .def_prop_ro("texts", [](const Corpus& c) { return list_of(c.documents, &ner::Document::text); })
        .def_prop_ro("types", [](const Corpus& corpus) { return corpus.types; })
        .def_prop_ro("notes", [](const Corpus& corpus) { return corpus.notes; })
        .def_prop_ro("format", [](const Corpus& corpus) { return std::string(ner::name(corpus.format)); })
        .def_prop_ro("tags", [](const Corpus& corpus) { return owned_array(corpus.tags()); })
        .def_prop_ro("spans", &spans_of)
        .def_prop_ro("state", &state_of)
        .def("subset",
             [](const Corpus& corpus, const std::vector<std::size_t>& sentences) { return corpus.subset(sentences); })
        .def("write", [](const Corpus& corpus, const std::string& path) { ner::write_corpus(path, corpus); });
    nb::class_<Tagger>(module, "NerTagger")
        .def_prop_ro("types", [](const Tagger& tagger) { return tagger.types; })
        .def_prop_ro("method", [](const Tagger& tagger) { return tagger.method; })
        .def_prop_ro("dimensions", &Tagger::dimensions)
        .def_prop_ro("outside_share", [](const Tagger& tagger) { return share_of(tagger.outside_share); })
        .def_prop_ro("support_outside_share", [](const Tagger& tagger) { return tagger.support_outside_share; })
        .def_prop_rw(
            "encoder", [](const Tagger& tagger) { return tagger.encoder; },
            [](Tagger& tagger, const std::string& encoder) { tagger.encoder = encoder; })
        .def_prop_rw(
            "layer", [](const Tagger& tagger) { return tagger.layer; },
            [](Tagger& tagger, const std::string& layer) { tagger.layer = layer; })
        .def("scores",
             [](const Tagger& tagger, nb::handle vectors, int threads) {
                 const Points rows = points_of(vectors);
                 return owned_array(Host(0, threads).work([&](const Run& run) { return tagger.scores(rows, run); }));
             })
        .def("tag", &tagged)
        .def("suggest", &suggested)
        .def("page", &page_of)
        .def("to_bytes", [](const Tagger& tagger) { return bytes_of(tagger.archive().to_bytes()); })
        .def("save", [](const Tagger& tagger, const std::string& path) { tagger.save(path); });
    module.def("ner_load", [](const std::string& path) { return Tagger::load(path); });
    module.def("ner_from_bytes", [](const nb::bytes& bytes) {
        const std::string source = "pickled tagger";
        return Tagger::from(Archive::from_bytes(span_of(bytes), source), source);
    });
    module.def("ner_corpus", &corpus_of_state);
    module.def("ner_read", [](const std::string& path, const nb::dict& given, bool lenient) {
        auto options = options_of<ner::CorpusOptions>(given);
        if (lenient) options.tags = ner::TagReading::lenient;
        return ner::read_corpus(path, options);
    });
    module.def("ner_parse", [](const std::string& text, const std::string& source, const nb::dict& given) {
        return ner::parse_corpus(text, source, options_of<ner::CorpusOptions>(given));
    });
    module.def("ner_words", &corpus_of_words);
    module.def("ner_vectors", &vectors_of);
    module.def("ner_adapt", &adapted, "support"_a, "vectors"_a, "other"_a.none(), "options"_a, "seed"_a, "threads"_a);
    module.def("ner_train", &trained);
    module.def("ner_sample", [](const Corpus& corpus, const nb::dict& given, std::uint64_t seed) {
        return ner::sample_support(corpus, options_of<ner::SampleOptions>(given), Run(seed, 1));
    });
    module.def("ner_find", [](const Corpus& some, const Corpus& all) { return ner::find_sentences(some, all); });
    module.def("ner_score", &scored);
    module.def("data_folders", [] {
        return list_of(data_folders(), [](const std::filesystem::path& folder) { return folder.string(); });
    });
}

}  // namespace coterie::python
