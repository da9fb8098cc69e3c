#pragma once
// The catalogue of data sets: all entries, one entry in full, or a downloaded one.

#include <filesystem>
#include <string>

#include "coterie/data/catalogue.hpp"

namespace coterie {

/// All entries, and where the files of each are or how to get them.
struct CatalogueList {};
/// One entry in full.
struct CatalogueRecord {
    const CatalogueEntry& entry;
};
/// An entry that get_data put into a folder.
struct CatalogueCopy {
    const CatalogueEntry& entry;
    std::filesystem::path folder;
};

std::string text_document(const CatalogueList& list);
std::string json_document(const CatalogueList& list);
std::string text_document(const CatalogueRecord& record);
std::string json_document(const CatalogueRecord& record);
std::string text_document(const CatalogueCopy& copy);
std::string json_document(const CatalogueCopy& copy);

}  // namespace coterie
