#include "coterie/base/own_place.hpp"

#include <gtest/gtest.h>

namespace coterie {
namespace {

namespace fs = std::filesystem;

TEST(OwnFolder, IsThatOfTheTestProgram) {
    EXPECT_EQ(internal::own_folder(), fs::read_symlink("/proc/self/exe").parent_path());
}

TEST(OwnFolder, DataFoldersOfTheBuildExist) {
    bool found = false;
    for (const fs::path& folder : internal::own_data_folders()) {
        EXPECT_TRUE(folder.is_absolute()) << folder;
        found = found || fs::exists(folder / "iris" / "iris.csv");
    }
    EXPECT_TRUE(found);
}

}  // namespace
}  // namespace coterie
