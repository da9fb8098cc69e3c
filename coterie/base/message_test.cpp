// Messages: text made from fields, spelling of marks, packing for another process.

#include "coterie/base/message.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <string>

#include "coterie/base/error.hpp"
#include "coterie/base/text.hpp"

namespace coterie {
namespace {

// The spelling of the command.
class Flags : public Spelling {
public:
    std::string option(std::string_view name) const override { return "--" + std::string(name); }
    std::string setting(std::string_view name, std::string_view value) const override {
        return "--" + std::string(name) + " " + std::string(value);
    }
    std::string row(std::string_view row) const override { return "ROW " + std::string(row); }
};

TEST(Message, PlaceProblemRemedy) {
    const Message full{.code = Code::not_a_number,
                       .problem = "'x' is not a number",
                       .remedy = "Use `exclude=price`",
                       .option = "columns",
                       .file = "cars.csv",
                       .line = 7,
                       .column = "price"};
    EXPECT_EQ(full.text(), "cars.csv: column 'price', line 7: 'x' is not a number. Use exclude=price.");
    EXPECT_EQ(Flags()(full.marked()), "cars.csv: column 'price', line 7: 'x' is not a number. Use --exclude price.");
    EXPECT_EQ((Message{.problem = "p"}).text(), "p");
    EXPECT_EQ((Message{.problem = "p", .remedy = "Do q"}).text(), "p. Do q.");
    EXPECT_EQ((Message{.problem = "p", .option = "weights"}).text(), "weights: p");
    EXPECT_EQ((Message{.problem = "`a` p", .option = "a"}).text(), "a p");
    EXPECT_EQ((Message{.problem = "`a` p", .option = "b"}).text(), "b: a p");
    EXPECT_EQ((Message{.problem = "p", .option = "points", .row = 3, .column_number = 2}).text(),
              "points: column 2, row 3: p");
    EXPECT_EQ((Message{.problem = "p", .column = "a", .column_number = 2}).text(), "column 'a': p");
    EXPECT_EQ((Message{.problem = "p", .line = 4, .row = 3}).text(), "line 4: p");
    EXPECT_EQ((Message{.problem = "p", .option = "points", .context = "process 2"}).text(), "process 2: points: p");
    EXPECT_EQ(Flags()((Message{.problem = "p", .option = "points", .row = 3}).marked()), "--points: ROW 3: p");
}

TEST(Message, NamesOfFilesAndColumnsStay) {
    const Message odd{.problem = "use `a=1`", .file = "`a`.csv", .column = "`b`"};
    EXPECT_EQ(odd.text(), "`a`.csv: column '`b`': use a=1");
}

TEST(Message, MarksAreSpelledAndOtherBackquotesStay) {
    const Flags flags;
    EXPECT_EQ(flags("`a_1`, `b=2` and `c=x y`"), "--a_1, --b 2 and --c x y");
    EXPECT_EQ(flags("``"), "``");
    EXPECT_EQ(flags("`"), "`");
    EXPECT_EQ(flags("`a"), "`a");
    EXPECT_EQ(flags("`A` `1a` `a b` `a=1"), "`A` `1a` `a b` `a=1");
    EXPECT_EQ(flags("`a b`c`"), "`a b--c") << "the second backquote opens another mark";
    EXPECT_EQ(flags("`a=`"), "--a ");
    EXPECT_EQ(Spelling()("`a` `b=2` `row=5`"), "a b=2 row 5");
}

TEST(Message, PatternsAreFilledInOrder) {
    EXPECT_EQ(internal::filled("row {} of '{}': {}", std::int64_t{3}, std::string("a{}"), "b"), "row 3 of 'a{}': b");
    EXPECT_EQ(internal::filled("{}{}{rank}", 'c', std::size_t{7}), "c7{rank}");
    EXPECT_EQ(internal::filled("{} {}", std::numeric_limits<std::int64_t>::min(), std::string_view()),
              "-9223372036854775808 ");
}

TEST(Message, EveryCodeHasANameAndAMeaning) {
    std::set<std::string_view> names;
    for (const CodeMeaning& each : code_list()) {
        EXPECT_EQ(name(each.code), each.name);
        EXPECT_TRUE(names.insert(each.name).second) << each.name;
        EXPECT_TRUE(each.meaning.ends_with(".") && each.meaning.size() < 120) << each.name;
        for (const char c : each.name) EXPECT_TRUE((c >= 'a' && c <= 'z') || c == '-') << each.name;
    }
}

TEST(Message, TravelsAsBytes) {
    const Message full{.code = Code::infeasible,
                       .problem = std::string("p\0q", 3),
                       .remedy = "r",
                       .option = "sizes",
                       .value = "v",
                       .accepted = "a",
                       .file = "f",
                       .line = -1,
                       .row = std::int64_t{1} << 60,
                       .column = "c",
                       .column_number = 2,
                       .context = "x"};
    const std::string bytes = full.packed();
    EXPECT_EQ(Message::unpacked(bytes), full);
    EXPECT_EQ(Message::unpacked(Message().packed()), Message());
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(Message::unpacked(std::string_view(bytes).substr(0, size))) << size;
    EXPECT_FALSE(Message::unpacked(bytes + "x"));
    std::string wrong = bytes;
    wrong[0] = static_cast<char>(200);
    EXPECT_FALSE(Message::unpacked(wrong)) << "no such code";
}

TEST(Message, AnErrorHasItsTextAndFields) {
    try {
        throw BadData({.code = Code::missing_value, .problem = "NaN", .row = 3});
    } catch (Error& error) {
        EXPECT_STREQ(error.message(), "row 3: NaN");
        error.amend([](Message& message) { message.file = "a.csv"; });
    }
    try {
        try {
            throw BadArgument({.code = Code::conflict, .problem = "p"});
        } catch (Error& error) {
            error.amend([](Message& message) { message.file = "a.csv"; });
            throw;
        }
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(), "a.csv: p");
    }
    EXPECT_EQ(InternalError("x").fields().code, Code::internal);
    EXPECT_EQ(Cancelled::during("reading").fields().code, Code::cancelled);
}

}  // namespace
}  // namespace coterie
