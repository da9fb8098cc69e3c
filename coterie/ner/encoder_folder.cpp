// The three kinds of encoders name their tensors differently, but meaning and order are the same.

#include "coterie/ner/encoder_folder.hpp"

#include <cmath>
#include <cstring>
#include <filesystem>

#include "coterie/base/error.hpp"
#include "coterie/base/text.hpp"
#include "coterie/io/json_text.hpp"
#include "coterie/io/output_file.hpp"
#include "coterie/ner/unicode.hpp"

namespace coterie::ner::internal {
namespace {

using OrderedJson = nlohmann::ordered_json;
using coterie::internal::at;
using coterie::internal::filled;

constexpr const char* mark = "coterie_trained_on_tags";  // key in config.json

/// A file with a JSON object, and its values by key.
class Config {
public:
    explicit Config(const std::string& path) : path_(path) {
        const formats::Bytes bytes = formats::read_bytes(path);
        json_ = formats::parse_json<OrderedJson>({bytes.text(), bytes.size()}, [&](const std::string& reason) {
            throw BadData(Code::malformed, "the file " + reason, "", {.file = path});
        });
        if (!json_.is_object()) throw BadData(Code::malformed, "the file is not a JSON object", "", {.file = path});
    }
    bool has(const char* key) const { return json_.contains(key) && !json_[key].is_null(); }
    std::string text(const char* key) const {
        require(has(key) && json_[key].is_string(), key, "a text");
        return json_[key].get<std::string>();
    }
    Index count(const char* key) const {
        require(has(key) && json_[key].is_number_integer(), key, "a whole number");
        const auto value = json_[key].get<std::int64_t>();
        require(value >= 1 && value <= 10'000'000, key, "from 1 to 10,000,000");
        return static_cast<Index>(value);
    }
    double number(const char* key, double otherwise) const {
        if (!has(key)) return otherwise;
        require(json_[key].is_number(), key, "a number");
        return json_[key].get<double>();
    }
    bool flag(const char* key, bool otherwise) const {
        if (!has(key)) return otherwise;
        require(json_[key].is_boolean(), key, "true or false");
        return json_[key].get<bool>();
    }
    std::string text(const char* key, const std::string& otherwise) const { return has(key) ? text(key) : otherwise; }
    const OrderedJson& json() const { return json_; }
    [[noreturn]] void refuse(const char* key, const std::string& accepted) const {
        const bool given = json_.contains(key);
        throw BadData(given ? Code::unsupported_format : Code::malformed,
                      filled("{} is {}, but must be {}", key,
                             given ? formats::shown(json_[key].dump(-1, ' ', true)) : "missing", accepted),
                      "", {.accepted = accepted, .file = path_});
    }

private:
    void require(bool holds, const char* key, const std::string& accepted) const {
        if (!holds) refuse(key, accepted);
    }
    std::string path_;
    OrderedJson json_;
};

EncoderShape shape_of(const Config& config) {
    EncoderShape out{};
    out.kind = config.text("model_type");
    const bool distil = out.kind == "distilbert";
    const bool mpnet = out.kind == "mpnet";
    if (out.kind != "bert" && !distil && !mpnet) config.refuse("model_type", "bert, distilbert or mpnet");
    out.hidden = config.count(distil ? "dim" : "hidden_size");
    out.heads = config.count(distil ? "n_heads" : "num_attention_heads");
    out.inner = config.count(distil ? "hidden_dim" : "intermediate_size");
    out.layers = config.count(distil ? "n_layers" : "num_hidden_layers");
    out.positions = config.count("max_position_embeddings");
    out.pieces = config.count("vocab_size");
    if (out.hidden % out.heads != 0)
        config.refuse(distil ? "n_heads" : "num_attention_heads", filled("a divisor of the {} dimensions", out.hidden));
    out.epsilon = config.number("layer_norm_eps", 1e-12);
    if (!(out.epsilon >= 0)) config.refuse("layer_norm_eps", "a number, at least 0");
    if (config.text("position_embedding_type", "absolute") != "absolute")
        config.refuse("position_embedding_type", "absolute");
    const char* const activation_key = distil ? "activation" : "hidden_act";
    static const std::map<std::string, Activation> activations = {
        {"gelu", gelu}, {"gelu_new", gelu_tanh}, {"gelu_pytorch_tanh", gelu_tanh}, {"relu", relu}};
    const auto activation = activations.find(config.text(activation_key, "gelu"));
    if (activation == activations.end()) config.refuse(activation_key, "gelu, gelu_new or relu");
    out.activation = activation->second;
    // MPNet's first position is the number of the padding piece plus 1.
    const double padding = mpnet ? config.number("pad_token_id", 1) : -1;
    if (!(padding >= -1 && padding <= 1e7 && padding == std::floor(padding)))
        config.refuse("pad_token_id", "a whole number from 0 to 10,000,000");
    out.first_position = static_cast<Index>(padding) + 1;
    if (out.positions - out.first_position < 4)
        config.refuse("max_position_embeddings", "at least 4 more than the first position");
    if (out.kind == "bert") out.token_types = config.count("type_vocab_size");
    if (mpnet)
        out.buckets =
            config.has("relative_attention_num_buckets") ? config.count("relative_attention_num_buckets") : 32;
    const auto dropout = [&](const char* key) {
        const double share = config.number(key, 0.1);
        if (!(share >= 0 && share < 1)) config.refuse(key, "a share, at least 0 and below 1");
        return share;
    };
    out.dropout = dropout(distil ? "dropout" : "hidden_dropout_prob");
    out.dropout_of_attention = dropout(distil ? "attention_dropout" : "attention_probs_dropout_prob");
    out.dropout_of_mixed = distil ? 0 : out.dropout;  // DistilBERT has no dropout there
    out.trained_on_tags = config.flag(mark, false);
    return out;
}

using Parameter = EncoderFolder::Parameter;

std::vector<Parameter> parameters_of(const EncoderShape& shape) {
    std::vector<Parameter> out;
    const auto matrix = [&](const std::string& key, Index rows, Index columns) {
        out.push_back({key, rows, columns, false});
    };
    const auto pair = [&](const std::string& key, Index size) {
        out.push_back({key + ".weight", 1, size, true});
        out.push_back({key + ".bias", 1, size, true});
    };
    const auto dense = [&](const std::string& key, Index rows, Index columns) {
        matrix(key + ".weight", rows, columns);
        out.push_back({key + ".bias", 1, rows, true});
    };
    const bool distil = shape.kind == "distilbert";
    const bool mpnet = shape.kind == "mpnet";
    matrix("embeddings.word_embeddings.weight", shape.pieces, shape.hidden);
    matrix("embeddings.position_embeddings.weight", shape.positions, shape.hidden);
    pair("embeddings.LayerNorm", shape.hidden);
    if (mpnet) matrix("encoder.relative_attention_bias.weight", shape.buckets, shape.heads);
    for (Index l = 0; l < shape.layers; ++l) {
        const std::string layer = filled("{}{}.", distil ? "transformer.layer." : "encoder.layer.", l);
        const std::vector<std::string> attention =
            distil
                ? std::vector<std::string>{"attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin"}
            : mpnet ? std::vector<std::string>{"attention.attn.q", "attention.attn.k", "attention.attn.v",
                                               "attention.attn.o"}
                    : std::vector<std::string>{"attention.self.query", "attention.self.key", "attention.self.value",
                                               "attention.output.dense"};
        for (const std::string& each : attention) dense(layer + each, shape.hidden, shape.hidden);
        pair(layer + (distil  ? "sa_layer_norm"
                      : mpnet ? "attention.LayerNorm"
                              : "attention.output.LayerNorm"),
             shape.hidden);
        dense(layer + (distil ? "ffn.lin1" : "intermediate.dense"), shape.inner, shape.hidden);
        dense(layer + (distil ? "ffn.lin2" : "output.dense"), shape.hidden, shape.inner);
        pair(layer + (distil ? "output_layer_norm" : "output.LayerNorm"), shape.hidden);
    }
    return out;
}

std::string path_in(const std::string& folder, const char* name) {
    return (std::filesystem::path(folder) / name).string();
}

WordPieces vocabulary_of(const std::string& folder, const EncoderShape& shape) {
    const Config tokens(path_in(folder, "tokenizer_config.json"));
    const bool lower = tokens.flag("do_lower_case", true);
    const bool mpnet = shape.kind == "mpnet";
    const std::string path = path_in(folder, "vocab.txt");
    const formats::Bytes bytes = formats::read_bytes(path);
    const std::string_view text(bytes.text(), bytes.size());
    if (broken_utf8(text) != std::string_view::npos)
        throw BadData(Code::malformed, "the file is not UTF-8", "", {.file = path});
    WordPieces out(text, path,
                   {lower, tokens.flag("strip_accents", lower), tokens.flag("tokenize_chinese_chars", true)}, "[UNK]",
                   mpnet ? "<s>" : "[CLS]", mpnet ? "</s>" : "[SEP]");
    if (out.size() > shape.pieces)
        throw BadData(Code::wrong_shape,
                      filled("{}, but config.json says vocab_size {}", counted(out.size(), "piece"), shape.pieces), "",
                      {.file = path});
    return out;
}

}  // namespace

EncoderFolder::EncoderFolder(const std::string& folder)
    : shape(shape_of(Config(path_in(folder, "config.json")))),
      vocabulary(vocabulary_of(folder, shape)),
      folder_(folder),
      tensors_path_(path_in(folder, "model.safetensors")),
      bytes_(formats::read_bytes(tensors_path_)),
      file_(formats::parse_safetensors_table(bytes_.data, tensors_path_)) {
    // This is checked before names are made for all layers. Each layer has more than one tensor.
    if (shape.layers > static_cast<Index>(file_.tensors.size()))
        throw BadData(Code::wrong_shape,
                      filled("{}, too few for the {} layers of config.json",
                             counted(static_cast<Index>(file_.tensors.size()), "tensor"), shape.layers),
                      "", {.file = tensors_path_});
    parameters_ = parameters_of(shape);
    const std::string prefix = shape.kind + ".";
    for (std::size_t e = 0; e < file_.tensors.size(); ++e) {
        std::string key = file_.tensors[e].name;
        if (key.starts_with(prefix)) key.erase(0, prefix.size());
        entries_.emplace(std::move(key), e);
    }
}

Vector<float> EncoderFolder::token_type() const {
    if (shape.token_types == 0) return Vector<float>::Zero(shape.hidden);
    return read("embeddings.token_type_embeddings.weight", shape.token_types, shape.hidden, false).row(0).transpose();
}

const formats::SafetensorsFile::Entry* EncoderFolder::find(const std::string& key) const {
    std::string other = key;  // the names of normalisations in TensorFlow
    if (key.find("LayerNorm.") != std::string::npos)
        other =
            key.ends_with(".weight") ? key.substr(0, key.size() - 6) + "gamma" : key.substr(0, key.size() - 4) + "beta";
    for (const std::string& name : {key, other})
        if (const auto found = entries_.find(name); found != entries_.end()) return &file_.tensors[found->second];
    return nullptr;
}

Matrix<float> EncoderFolder::read(const std::string& key, Index rows, Index columns, bool vector) const {
    const auto refuse = [&](Code code, const std::string& what) {
        throw BadData(code, filled("tensor {} {}", key, what), "", {.file = tensors_path_});
    };
    const formats::SafetensorsFile::Entry* const entry = find(key);
    if (entry == nullptr) refuse(Code::malformed, "is missing");
    const std::vector<std::int64_t> meant =
        vector ? std::vector<std::int64_t>{columns} : std::vector<std::int64_t>{rows, columns};
    if (entry->dtype != "F32")
        refuse(Code::unsupported_format, filled("has type {}, but F32 is needed", formats::shown(entry->dtype)));
    if (entry->shape != meant)
        refuse(Code::wrong_shape,
               filled("is {}, but config.json says {}", formats::shape_text(entry->shape), formats::shape_text(meant)));
    Matrix<float> out(rows, columns);
    std::memcpy(out.data(), entry->data.data(), entry->data.size());
    if (!out.allFinite()) refuse(Code::not_finite, "has numbers that are not finite");
    return out;
}

Matrix<float> EncoderFolder::matrix(std::size_t parameter) const {
    const Parameter& of = parameters_[parameter];
    Matrix<float> out = read(of.key, of.rows, of.columns, of.vector);
    if (parameter == 1) out.rowwise() += token_type().transpose();
    return out;
}

void EncoderFolder::write_trained(const std::string& to, const std::vector<std::vector<float>>& values,
                                  const std::optional<Projection>& projection) const {
    // The new values of a tensor, which keeps its place in the file.
    std::map<const formats::SafetensorsFile::Entry*, const std::vector<float>*> replaced;
    std::vector<float> positions = values[1];
    const Vector<float> token_type = this->token_type();
    for (Index i = 0; i < shape.positions; ++i)
        for (Index j = 0; j < shape.hidden; ++j) positions[at(i * shape.hidden + j)] -= token_type(j);
    for (std::size_t p = 0; p < parameters_.size(); ++p)
        replaced[find(parameters_[p].key)] = p == 1 ? &positions : &values[p];

    // The folder is written under another name and then renamed, so it is either complete or missing.
    std::filesystem::path beside(to);
    beside += ".part";
    std::error_code trouble;
    std::filesystem::remove_all(beside, trouble);
    std::filesystem::create_directories(beside, trouble);
    const auto remove = [&] {
        std::error_code ignored;
        std::filesystem::remove_all(beside, ignored);
    };
    const auto fail = [&](const std::string& why) {
        remove();
        throw ResourceError(Code::cannot_write, filled("the folder cannot be written ({})", why), "", {.file = to});
    };
    if (trouble) fail(trouble.message());
    try {
        for (const char* const name : {"vocab.txt", "tokenizer_config.json"}) {
            const formats::Bytes bytes = formats::read_bytes(path_in(folder_, name));
            write_file(path_in(beside.string(), name), {bytes.text(), bytes.size()});
        }
        OrderedJson config = Config(path_in(folder_, "config.json")).json();
        config[mark] = true;
        write_file(path_in(beside.string(), "config.json"), config.dump(2) + "\n");
        if (projection) projection->save(path_in(beside.string(), Projection::file));
        OutputFile file(path_in(beside.string(), "model.safetensors"));
        // The header stays, because tensors keep their names, shapes and places.
        file.write(bytes_.data.data(),
                   static_cast<std::size_t>(file_.tensors.front().data.data() - bytes_.data.data()));
        for (const auto& entry : file_.tensors) {
            const auto found = replaced.find(&entry);
            if (found == replaced.end())
                file.write(entry.data.data(), entry.data.size());
            else
                file.write(found->second->data(), found->second->size() * sizeof(float));
        }
        file.commit();
    } catch (...) {
        remove();
        throw;
    }
    std::filesystem::rename(beside, to, trouble);
    if (trouble) fail(trouble.message());
}

std::vector<Chunk> chunks_of(const Corpus& corpus, const WordPieces& vocabulary, Index positions) {
    const auto most = static_cast<std::size_t>(positions - 2);
    std::vector<Chunk> out;
    Index number = 0;
    for (const Sentence& sentence : corpus.sentences) {
        bool open = false;
        for (const Word& word : sentence.words) {
            std::vector<std::int32_t> own = vocabulary.pieces_of(corpus.text_of(sentence, word));
            if (own.empty()) own = {vocabulary.unknown()};  // a word of only control characters
            if (own.size() > most) own.erase(own.begin() + static_cast<std::ptrdiff_t>(most) - 1, own.end() - 1);
            if (!open || out.back().pieces.size() - 1 + own.size() > most) {
                if (open) out.back().pieces.push_back(vocabulary.end());
                out.push_back({number, {vocabulary.begin()}, {}});
                open = true;
            }
            Chunk& chunk = out.back();
            const auto first = static_cast<Index>(chunk.pieces.size());
            chunk.pieces.insert(chunk.pieces.end(), own.begin(), own.end());
            chunk.words.emplace_back(first, static_cast<Index>(chunk.pieces.size()) - 1);
            ++number;
        }
        out.back().pieces.push_back(vocabulary.end());
    }
    return out;
}

}  // namespace coterie::ner::internal
