// The page holds the text twice: as HTML for all readers, and as JSON, from which the script draws sentences again
// after a correction. The JSON is escaped, so no text can end the script element. Offsets count code points, as in
// downloads.

#include "coterie/ner/page.hpp"

#include <cmath>
#include <numeric>

#include "coterie/base/text.hpp"
#include "coterie/ner/internal/calibration.hpp"
#include "coterie/ner/internal/page_assets.hpp"
#include "coterie/ner/readers.hpp"
#include "coterie/ner/unicode.hpp"
#include "coterie/report/drawing.hpp"
#include "coterie/report/json.hpp"
#include "coterie/report/page_parts.hpp"
#include "coterie/report/result_text.hpp"

namespace coterie::ner {
namespace {

using coterie::internal::at;
using coterie::internal::count_text;
using coterie::internal::escape_markup;
using coterie::internal::filled;
using coterie::internal::Json;

constexpr Index most_sentences_of_page = 1000;
constexpr Index most_words_of_page = 100000;
constexpr Index most_words_of_page_sentence = 2000;

struct Shown {
    std::vector<std::pair<std::size_t, std::string>> sentences;  // each with the type for which it is suggested, or ""
    Index too_long = 0;
};

Shown sentences_of_page(const Tagger& tagger, const Corpus& corpus, const std::vector<Suggestion>& suggested) {
    Shown out;
    Index words = 0;
    std::vector<bool> taken(corpus.sentences.size(), false);
    const auto add = [&](std::size_t s, const std::string& about) {
        const auto own = static_cast<Index>(corpus.sentences[s].words.size());
        taken[s] = true;
        if (own > most_words_of_page_sentence) {
            ++out.too_long;
        } else {
            words += own;
            out.sentences.emplace_back(s, about);
        }
    };
    const auto full = [&] {
        return static_cast<Index>(out.sentences.size()) >= most_sentences_of_page ||
               words + most_words_of_page_sentence > most_words_of_page;
    };
    for (const Suggestion& one : suggested)
        if (!full()) add(one.sentence, tagger.types[at(one.type)]);
    for (std::size_t s = 0; s < corpus.sentences.size() && !full(); ++s)
        if (!taken[s]) add(s, {});
    return out;
}

std::string which_are_shown(const Shown& shown, const Corpus& corpus) {
    const auto all = static_cast<Index>(corpus.sentences.size());
    const auto here = static_cast<Index>(shown.sentences.size());
    std::string out;
    if (here == all)
        out = all == 1 ? "The one sentence is shown." : filled("All {} sentences are shown.", count_text(all));
    else
        out = filled("{} of {} sentences are shown: those that are suggested, and the first of the others.",
                     count_text(here), count_text(all));
    if (shown.too_long > 0)
        out += filled(" {} {} left out for having more than {} words.", count_text(shown.too_long),
                      shown.too_long == 1 ? "is" : "are", count_text(most_words_of_page_sentence));
    return out;
}

// For example "SHIP, probability 0.83; next PLACE, 0.12".
std::string told_of(const Mention& mention, const Matrix<double>& scores, Index first, const Tagger& tagger) {
    const Index own = 1 + mention.type;
    double least = std::numeric_limits<double>::infinity();
    Index row = 0;
    Index next = 0;
    for (Index i = first + static_cast<Index>(mention.begin); i < first + static_cast<Index>(mention.end); ++i) {
        Index best = own == 0 ? 1 : 0;
        for (Index t = 0; t < scores.cols(); ++t)
            if (t != own && scores(i, t) > scores(i, best)) best = t;
        if (scores(i, own) - scores(i, best) >= least && i > first + static_cast<Index>(mention.begin)) continue;
        least = scores(i, own) - scores(i, best);
        row = i;
        next = best;
    }
    const auto probability = [&](Index tag) {
        return internal::probability(scores.row(row).data(), scores.cols(), tag, tagger.sharpness,
                                     tagger.outside_shift);
    };
    const bool known = tagger.sharpness > 0;
    return filled("{}{}; next {}{}", tagger.types[at(mention.type)],
                  known ? ", probability " + coterie::internal::fixed_text(mention.probability, 2)
                        : ", margin " + coterie::internal::number_text(mention.margin),
                  next == 0 ? "no mention" : tagger.types[at(next - 1)],
                  known ? ", " + coterie::internal::fixed_text(probability(next), 2) : "");
}

std::string mark(const std::string& text, std::int32_t type, const std::string& name, double sure,
                 const std::string& title) {
    return filled("<mark class=\"t{}\" data-type=\"{}\" style=\"--Sure:{}\"{}>{}</mark>",
                  at(type) % coterie::internal::colours.size(), escape_markup(name),
                  coterie::internal::fixed_text(sure, 3),
                  title.empty() ? "" : " title=\"" + escape_markup(title) + "\"", escape_markup(text));
}

// One CSS class per colour, with the three numbers of "#0072B2". CSS variables begin with a capital letter here, so
// that they do not look like flags of the command line.
std::string colour_style() {
    std::string out;
    for (std::size_t t = 0; t < coterie::internal::colours.size(); ++t) {
        const std::string digits = coterie::internal::colours[t];
        out += filled(".t{} { --Rgb: ", t);
        for (std::size_t c = 1; c < 7; c += 2)
            out += filled("{}{}", c > 1 ? "," : "", std::stoi(digits.substr(c, 2), nullptr, 16));
        out += "; }\n";
    }
    return out;
}

constexpr const char* page_help =
    R"html(<p id="mentions-help" hidden>Click a mention to change its type or remove it. Select words to add a mention.
Keys: Tab goes to a sentence, arrows to its words (with Shift: several words); then 1 to 9 set a type, Delete removes
the mention, and Enter opens the menu. A sentence that you correct counts as checked. Tick sentences that need no
correction. Download the checked sentences, append them to your support, and adapt again.</p>
)html";

constexpr const char* page_controls =
    R"html(<section id="correct" class="controls" hidden>
<button type="button" id="mentions-download">Download as support</button>
<b id="mentions-count"></b><span id="mentions-said" role="status"></span>
</section>
<div id="mentions-menu" hidden></div>
)html";

}  // namespace

std::string mentions_page(const Tagger& tagger, const Corpus& found, PointsView vectors,
                          const std::vector<Suggestion>& suggested, const PageOrigin& origin, const Run& run) {
    internal::require_row_per_word(vectors, found);
    namespace parts = coterie::page_parts;
    const Matrix<double> scores = tagger.scores(vectors, run);
    const std::vector<Index> first = found.first_words();
    const Shown shown = sentences_of_page(tagger, found, suggested);
    const bool calibrated = tagger.sharpness > 0;

    const std::vector<Index> counts = found.mentions_of_types();
    std::string suggested_html;
    std::string others_html;
    Json sentences = Json::array();
    for (const auto& [s, about] : shown.sentences) {
        const Sentence& sentence = found.sentences[s];
        const std::string& text = found.documents[sentence.document].text;
        const std::size_t begin = sentence.words.front().begin;
        Json json;
        json["text"] = text.substr(begin, sentence.words.back().end - begin);
        json["words"] = Json::array();
        std::size_t counted = begin;
        std::size_t points = 0;
        for (const Word& word : sentence.words)
            for (const std::size_t byte : {word.begin, word.end}) {
                points += internal::count_code_points(std::string_view(text).substr(counted, byte - counted));
                counted = byte;
                json["words"].push_back(points);
            }
        json["mentions"] = Json::array();
        std::string html = filled("<div class=\"sentence\"><span>{}{}</span><p dir=\"auto\">",
                                  sentence.line > 0 ? "line " + count_text(sentence.line)
                                                    : "sentence " + count_text(static_cast<Index>(s) + 1),
                                  about.empty() ? "" : ", about " + escape_markup(about));
        std::size_t done = begin;
        for (const Mention& mention : sentence.mentions) {
            const double sure = calibrated ? mention.probability : 0.5;
            const std::string title = told_of(mention, scores, first[s], tagger);
            json["mentions"].push_back(
                {mention.begin, mention.end, mention.type, std::round(1000 * sure) / 1000, title});
            const std::size_t from = sentence.words[mention.begin].begin;
            html += escape_markup(text.substr(done, from - done)) +
                    mark(found.text_of(sentence, mention), mention.type, tagger.types[at(mention.type)], sure, title);
            done = sentence.words[mention.end - 1].end;
        }
        html += escape_markup(text.substr(done, sentence.words.back().end - done)) + "</p></div>\n";
        (about.empty() ? others_html : suggested_html) += html;
        sentences.push_back(std::move(json));
    }

    std::string types = "<ul class=\"types\">\n";
    for (std::size_t t = 0; t < tagger.types.size(); ++t)
        types += filled("<li>{}</li>\n",
                        mark(count_text(counts[t]), static_cast<std::int32_t>(t), tagger.types[t], 0.5, {}));
    types += "</ul>\n<p>";
    types +=
        calibrated
            ? "Stronger colours mean larger probabilities: " + mark("0.2", 0, tagger.types[0], 0.2, {}) + " " +
                  mark("0.6", 0, tagger.types[0], 0.6, {}) + " " + mark("1.0", 0, tagger.types[0], 1, {}) +
                  ". They are valid if the text is similar to the support. Point at a mention to see its probability."
            : "The tagger has no probabilities, so colours are equally strong. Point at a mention to see its margin.";
    types += filled("</p>\n{}", page_help);

    const std::string below = filled("found by {}, {}. {}", origin.model.empty() ? "a tagger" : origin.model,
                                     tagger.method, which_are_shown(shown, found));
    std::string out = parts::begin("Mentions in " + found.source, "Mentions in " + found.source, below,
                                   colour_style() + std::string(internal::page_style));
    out += filled("<div class=\"tiles\">\n{}{}{}</div>\n{}",
                  parts::tile(count_text(static_cast<Index>(found.sentences.size())), "sentences"),
                  parts::tile(count_text(found.words()), "words"),
                  parts::tile(count_text(std::accumulate(counts.begin(), counts.end(), Index{0})), "mentions found"),
                  parts::section("Types", types));
    if (!suggested_html.empty()) out += parts::section("Worth annotating next", suggested_html);
    if (!others_html.empty())
        out += parts::section(suggested_html.empty() ? "Text" : "The other sentences", others_html);
    const Json about = {{"types", tagger.types},
                        {"columns", found.format == CorpusFormat::conll},
                        {"colours", coterie::internal::colours.size()},
                        {"sentences", std::move(sentences)}};
    return out + page_controls +
           parts::end(
               origin.command, origin.date,
               filled("<script type=\"application/json\" id=\"mentions-about\">{}</script>\n<script>{}</script>\n",
                      coterie::internal::script_text(about.dump(-1, ' ', false, Json::error_handler_t::replace)),
                      internal::page_script));
}

}  // namespace coterie::ner
