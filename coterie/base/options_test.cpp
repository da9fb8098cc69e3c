#include "coterie/base/options.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace coterie {
namespace {

enum class Colour { red, green };

struct Example {
    int clusters = 8;
    double tolerance = 1e-4;
    bool verbose = false;
    Colour colour = Colour::green;
    std::string note;
    std::optional<int> rounds;
    std::optional<double> width = 2;
    std::vector<int> sides = {3, 4};
    std::vector<double> shares;

    static const OptionSet& described() {
        static const OptionSet set = OptionSetFor<Example>()
                                         .integer("clusters", &Example::clusters, at_least(1), "number of clusters")
                                         .letter('k')
                                         .real("tolerance", &Example::tolerance, above(0), "when to stop")
                                         .flag("verbose", &Example::verbose, "say more")
                                         .choice("colour", &Example::colour, {"red", "green"}, "a colour")
                                         .text("note", &Example::note, "a word")
                                         .integer("rounds", &Example::rounds, at_least(1), "of it", "until it ends")
                                         .real("width", &Example::width, above(0), "of it", "the median")
                                         .integers("sides", &Example::sides, at_least(1), "of it")
                                         .reals("shares", &Example::shares, above(0), "of each", "equal ones");
        return set;
    }
};

std::string message_of(const std::function<void()>& act) {
    try {
        act();
    } catch (const BadArgument& error) {
        return error.message();
    }
    return "nothing thrown";
}

TEST(Options, DefaultsComeFromTheStruct) {
    const auto values = Example::described().values(std::make_unique<Example>().get());
    EXPECT_EQ(to_text(values.at("clusters")), "8");
    EXPECT_EQ(to_text(values.at("tolerance")), "1e-04");
    EXPECT_EQ(to_text(values.at("colour")), "green");
    EXPECT_EQ(to_text(Example::described().at("clusters").default_value), "8");
}

TEST(Options, AssignAcceptsParsedValues) {
    const auto& set = Example::described();
    Example example;
    set.assign(&example, {{"clusters", set.at("clusters").parse("1e3")},
                          {"tolerance", set.at("tolerance").parse("2.5")},
                          {"verbose", set.at("verbose").parse("true")},
                          {"colour", set.at("colour").parse("red")},
                          {"note", set.at("note").parse("hello")}});
    EXPECT_EQ(example.clusters, 1000);
    EXPECT_EQ(example.tolerance, 2.5);
    EXPECT_TRUE(example.verbose);
    EXPECT_EQ(example.colour, Colour::red);
    EXPECT_EQ(example.note, "hello");
}

TEST(Options, AutomaticValues) {
    const auto& set = Example::described();
    Example example;
    EXPECT_EQ(set.at("rounds").default_value, OptionValue(Automatic()));
    EXPECT_EQ(to_text(set.at("rounds").default_value), "auto");
    EXPECT_EQ(set.at("width").default_value, OptionValue(2.0));
    EXPECT_EQ(set.at("shares").default_value, OptionValue(Automatic()));
    set.assign(&example, {{"rounds", set.at("rounds").parse("7")},
                          {"width", set.at("width").parse("auto")},
                          {"shares", set.at("shares").parse("0.25,0.75")}});
    EXPECT_EQ(example.rounds, 7);
    EXPECT_EQ(example.width, std::nullopt);
    EXPECT_EQ(example.shares, (std::vector<double>{0.25, 0.75}));
    set.assign(&example, {{"rounds", Automatic()}, {"shares", Automatic()}});
    EXPECT_EQ(example.rounds, std::nullopt);
    EXPECT_TRUE(example.shares.empty());
    EXPECT_NO_THROW(check_options(example));
    EXPECT_THROW(set.at("clusters").check(Automatic()), BadArgument);
    EXPECT_THROW(set.at("clusters").parse("auto"), BadArgument);
    EXPECT_EQ(message_of([&] { set.at("rounds").parse("0"); }),
              "rounds: 0 is not accepted. Use auto, or a whole number, at least 1.");
}

TEST(Options, ListsOfNumbers) {
    const auto& set = Example::described();
    Example example;
    set.assign(&example, {{"sides", set.at("sides").parse("28x28")}});
    EXPECT_EQ(example.sides, (std::vector<int>{28, 28}));
    EXPECT_EQ(to_text(set.at("sides").get(&example)), "28,28");
    set.assign(&example, {{"sides", std::vector<std::int64_t>{5}}, {"shares", std::vector<std::int64_t>{1, 2}}});
    EXPECT_EQ(example.sides, std::vector<int>{5});
    EXPECT_EQ(example.shares, (std::vector<double>{1, 2}));  // integers are accepted as reals
    const std::string remedy = " is not accepted. Use a list of whole numbers, at least 1, separated by commas.";
    for (const std::string wrong : {"", "3,", ",3", "3,,4", "3;4", "3,a", "2.5", "auto"})
        EXPECT_EQ(message_of([&] { set.at("sides").parse(wrong); }), "sides: '" + wrong + "'" + remedy);
    EXPECT_EQ(message_of([&] { set.at("sides").parse("3,0"); }), "sides: 3,0" + remedy);
    EXPECT_THROW(set.at("sides").check(std::vector<std::int64_t>()), BadArgument);
    EXPECT_THROW(set.at("shares").parse("0.5,nan"), BadArgument);
    EXPECT_EQ(set.at("shares").accepted(), "`auto`, or a list of numbers, above 0");
}

TEST(Options, RealOptionsAcceptIntegers) {
    Example example;
    Example::described().assign(&example, {{"tolerance", 3}});
    EXPECT_EQ(example.tolerance, 3.0);
}

TEST(Options, LargeWholeNumbersAreComparedExactly) {
    const std::int64_t last = std::int64_t{1} << 53;
    const OptionRange range = between(-0x1p53, 0x1p53);
    EXPECT_TRUE(range.contains(last));
    EXPECT_TRUE(range.contains(-last));
    EXPECT_FALSE(range.contains(last + 1));  // the nearest double is 2^53
    EXPECT_FALSE(range.contains(-last - 1));
    EXPECT_TRUE(any_number().contains(std::numeric_limits<std::int64_t>::max()));
    EXPECT_TRUE(at_least(1).contains(std::numeric_limits<std::int64_t>::max()));
    // A number that a double cannot represent exactly is an error, not rounded silently.
    for (const char* text : {"9007199254740993.0", "9.007199254740993e15", "1e300"})
        EXPECT_THROW(Example::described().at("rounds").parse(text), BadArgument) << text;
}

TEST(Options, MessagesNameOptionValueAndRange) {
    const auto& set = Example::described();
    EXPECT_EQ(message_of([&] { set.at("clusters").parse("0"); }),
              "clusters: 0 is not accepted. Use a whole number, at least 1.");
    EXPECT_EQ(message_of([&] { set.at("clusters").parse("abc"); }),
              "clusters: 'abc' is not accepted. Use a whole number, at least 1.");
    EXPECT_EQ(message_of([&] { set.at("clusters").parse("2.5"); }),
              "clusters: '2.5' is not accepted. Use a whole number, at least 1.");
    EXPECT_EQ(message_of([&] { set.at("clusters").parse("99999999999"); }),
              "clusters: 99999999999 is not accepted. Use a whole number, at least 1.");
    EXPECT_EQ(message_of([&] { set.at("tolerance").parse("nan"); }),
              "tolerance: nan is not accepted. Use a number, above 0.");
    EXPECT_EQ(message_of([&] { set.at("colour").parse("blue"); }),
              "colour: 'blue' is not accepted. Use one of red, green.");
    EXPECT_EQ(message_of([&] { set.at("verbose").parse("perhaps"); }),
              "verbose: 'perhaps' is not accepted. Use true or false.");
    EXPECT_EQ(
        message_of([&] { set.at("tolerrance"); }),
        "there is no option 'tolerrance' here. Options: clusters, tolerance, verbose, colour, note, rounds, width, "
        "sides, shares.");
}

TEST(Options, ErrorsHaveOptionValueAndRange) {
    try {
        Example::described().at("colour").parse("blue");
        FAIL();
    } catch (Error& error) {
        EXPECT_EQ(error.fields().option, "colour");
        EXPECT_EQ(error.fields().value, "blue");
        EXPECT_EQ(error.fields().accepted, "one of red, green");
        EXPECT_EQ(error.fields().file, "");
        EXPECT_FALSE(error.fields().row.has_value());
        error.amend([](Message& message) { message.file = "a.csv"; });  // the next handler sees it
        try {
            throw;
        } catch (const Error& again) {
            EXPECT_EQ(again.fields().file, "a.csv");
        }
    }
    const BadArgument refused = refused_option("note", std::string("x"), "y or z");
    EXPECT_STREQ(refused.message(), "note: 'x' is not accepted. Use y or z.");
    EXPECT_STREQ(refused_option("clusters", std::int64_t{3}, "even numbers").message(),
                 "clusters: 3 is not accepted. Use even numbers.");
    EXPECT_EQ(refused.fields().accepted, "y or z");
}

TEST(Options, CheckCoversEveryMember) {
    Example example;
    EXPECT_NO_THROW(check_options(example));
    example.tolerance = std::nan("");
    EXPECT_THROW(check_options(example), BadArgument);
    example.tolerance = 1;
    example.colour = static_cast<Colour>(9);
    EXPECT_THROW(check_options(example), std::invalid_argument);
}

}  // namespace
}  // namespace coterie
