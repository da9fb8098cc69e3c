// Only what the descriptions of the commands lack is written here: exit codes, environment variables, files. All text
// passes through troff(), so that troff takes no text for a request.

#include "commands.hpp"
#include "common.hpp"

namespace coterie::cli {
namespace {

std::string troff(const std::string& text) {
    std::string out;
    bool line_start = true;
    for (const char c : text) {
        // At the start of a line, a dot or an apostrophe would be read as a request.
        if (line_start && (c == '.' || c == '\'')) out += "\\&";
        if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else {
            out += c;
        }
        line_start = c == '\n';
    }
    return out;
}

std::string macro_argument(const std::string& text) {
    std::string out;
    for (const char c : troff(text)) out += c == '"' ? std::string("\\(dq") : std::string(1, c);
    return "\"" + out + "\"";
}

void paragraph(std::string& out, const std::string& text) {
    for (const auto& line : wrap(text, 100)) out += line.empty() ? ".PP\n" : troff(line) + "\n";
}

void item(std::string& out, const std::string& title, const std::string& text) {
    out += ".TP\n" + title + "\n";
    paragraph(out, text);
}

std::string title_of(const Flag& flag) {
    std::string out;
    if (flag.letter) out = std::string("\\fB\\-") + flag.letter + "\\fR, ";
    out += "\\fB" + troff(flag.name) + "\\fR";
    if (!flag.value.empty()) out += " \\fI" + troff(flag.value) + "\\fR";
    return out;
}

std::string sentence(std::string text) {
    if (!text.empty() && text.back() != '.' && text.back() != ')') text += ".";
    return text;
}

std::string text_of(const Flag& flag) {
    const std::string tail = accepted_text(flag);
    return tail.empty() ? sentence(meaning_text(flag)) : meaning_text(flag) + " (" + tail + ").";
}

std::vector<std::pair<std::string, const Command*>> leaves(const Command& command, const std::string& path) {
    std::vector<std::pair<std::string, const Command*>> out;
    if (command.act) out.emplace_back(path, &command);
    for (const auto& each : command.commands)
        for (const auto& leaf : leaves(each, path + " " + each.name)) out.push_back(leaf);
    return out;
}

}  // namespace

std::string man_page(const Command& root) {
    std::string out = ".\\\" Made by coterie man from the same descriptions that parse the command line.\n";
    // A fixed date, so that every build makes the same page.
    out += ".TH COTERIE 1 2026-01-01 " + macro_argument("coterie " COTERIE_VERSION) + " " +
           macro_argument("User commands") + "\n";
    out += ".SH NAME\ncoterie \\- " + troff(root.summary) + "\n.SH SYNOPSIS\n";
    const auto all = leaves(root, root.name);
    bool first = true;
    for (const auto& [path, command] : all) {
        if (command == &root) continue;
        if (!first) out += ".br\n";
        first = false;
        out += "\\fB" + troff(path) + "\\fR" + troff(usage_line(*command, "")) + "\n";
    }
    out += ".SH DESCRIPTION\n";
    paragraph(out, root.details);
    out += ".SH COMMANDS\n";
    for (const auto& [path, command] : all) {
        if (command == &root) continue;
        out += ".SS " + macro_argument(path) + "\n";
        paragraph(out, sentence(command->summary));
        if (!command->details.empty()) {
            out += ".PP\n";
            paragraph(out, command->details);
        }
        for (const auto& operand : command->operands)
            item(out, "\\fI" + troff(operand.name) + "\\fR", sentence(operand.meaning));
        for (const auto& group : groups_of(command->flags)) {
            out += ".PP\n\\fI" + troff(group) + "\\fR\n";
            for (const auto& flag : command->flags)
                if (flag.group == group) item(out, title_of(flag), text_of(flag));
        }
    }
    out += ".SH EXIT STATUS\n";
    const std::pair<const char*, const char*> codes[] = {
        {"0", "Done."},
        {"1",
         "A resource was not available (memory, disk, network, a folder to write to). Or coterie itself has a fault: "
         "please report it."},
        {"2", "Wrong command line: an unknown word, a value that is not accepted, more clusters than rows."},
        {"3",
         "Bad data: a file that cannot be read, NaN or infinite values, a truth with a different number of rows, a "
         "damaged model."},
        {"4",
         "With --strict: the fit reached its iteration limit before it converged, or its clusters collapsed. Its "
         "results are still written."},
        {"130",
         "Interrupted (Ctrl-C). The results found so far are written; if there are none yet, nothing is written. A "
         "second Ctrl-C ends at once."}};
    for (const auto& [code, meaning] : codes) item(out, std::string("\\fB") + code + "\\fR", meaning);
    out += ".SH ENVIRONMENT\n";
    item(out, "\\fBCOTERIE_DATA\\fR",
         "The folder that is searched first for data sets, before the user's cache and the data that ship with "
         "coterie.");
    item(out, "\\fBXDG_CACHE_HOME\\fR",
         "Downloads go to its folder coterie. If it is not set, they go to ~/.cache/coterie.");
    item(out, "\\fBCOTERIE_SHARE\\fR",
         "The folder share/coterie of an installation that was moved. Its folder data holds the data that ship with "
         "coterie.");
    item(out, "\\fBCOTERIE_DEEP_LIBRARY\\fR",
         "The file libcoterie-deep.so to load for neural networks, instead of the one next to coterie's own library.");
    item(out, "\\fBCOTERIE_MPI_LIBRARY\\fR",
         "The file libcoterie-mpi.so to load for several processes, instead of the one next to coterie's own library.");
    item(out, "\\fBNO_COLOR\\fR", "If set and not empty, messages have no colour.");
    out += ".SH FILES\n";
    item(out, "\\fImodel.safetensors\\fR",
         "A model, in safetensors layout, so that any safetensors reader opens it. It holds what predict needs, the "
         "method's options, the centring and scaling of the fit, and a checksum.");
    item(out, "\\fIlabels.csv\\fR, \\fIlabels.npy\\fR",
         "Labels: text with the header line label, or 32-bit integers in NumPy's format.");
    out += ".SH EXAMPLES\n";
    for (const auto& [path, command] : all) {
        for (const auto& example : command->examples)
            item(out, "\\fB" + troff(example.line) + "\\fR", sentence(example.meaning));
    }
    return out;
}

}  // namespace coterie::cli
