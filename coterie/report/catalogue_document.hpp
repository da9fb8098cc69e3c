#pragma once
// The catalogue of data sets as text for people and as JSON for programs.

#include "coterie/data/catalogue.hpp"

namespace coterie {

/// All entries, and where the files of each are or how to get them.
std::string text_document(const std::vector<CatalogueEntry>& entries);
std::string json_document(const std::vector<CatalogueEntry>& entries);
/// One entry in full.
std::string text_document(const CatalogueEntry& entry);
std::string json_document(const CatalogueEntry& entry);
/// An entry that get_data put into the folder.
std::string text_document(const CatalogueEntry& entry, const std::filesystem::path& folder);
std::string json_document(const CatalogueEntry& entry, const std::filesystem::path& folder);

}  // namespace coterie
