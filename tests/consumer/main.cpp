// A first program of a user of the installed library: its own options, points, a random stream, a fit
// of installed data, and errors thrown in the library and caught here. The arguments are files with the numbers 0 to 5
// in three rows.
#include <cmath>
#include <coterie/coterie.hpp>
#include <iostream>
#include <memory>

struct ShiftOptions {
    double by = 0.5;
    static const coterie::OptionSet& described() {
        static const coterie::OptionSet set = coterie::OptionSetFor<ShiftOptions>().real(
            "by", &ShiftOptions::by, coterie::at_least(0), "distance of the shift");
        return set;
    }
};

int main(int count, char** words) {
    const coterie::Run run(7, 2);
    coterie::Matrix<double> numbers(100, 3);
    coterie::RandomStream stream = run.random("consumer.points");
    for (coterie::Index i = 0; i < numbers.size(); ++i) numbers.data()[i] = stream.uniform();
    const coterie::Points points(numbers);

    double sum = 0;
    for (coterie::Index i = 0; i < points.rows(); ++i) sum += points.view().as<double>().block(i, i + 1).sum();
    if (std::abs(sum - numbers.sum()) > 1e-9 || sum < 100 || sum > 200) {
        std::cerr << "the sum is " << sum << "\n";
        return 1;
    }

    const coterie::PointsFile iris = coterie::read_points("data:iris");
    coterie::Run fits(1);
    const coterie::KMeansModel model = coterie::fit_kmeans(iris.points, {.clusters = 3}, fits);
    if (model.predict(iris.points) != model.labels()) {
        std::cerr << "predict disagrees with the fit\n";
        return 1;
    }
    for (int i = 1; i < count; ++i) {
        const coterie::Points read = coterie::read_points(words[i]).points;
        if (read.rows() != 3 || read.columns() != 2 || read.view().at(2, 1) != 5) {
            std::cerr << words[i] << " is not read as it was written\n";
            return 1;
        }
    }
    try {
        coterie::find_method("no such method");
        return 1;
    } catch (const std::invalid_argument& error) {
        if (dynamic_cast<const coterie::BadArgument*>(&error) == nullptr) return 1;
    }
    try {
        coterie::read_points("/no/such/file.csv");
        return 1;
    } catch (const coterie::BadData&) {
    }

    ShiftOptions options;
    options.by = -1;
    try {
        coterie::check_options(options);
    } catch (const coterie::Error& error) {
        std::cout << "the expected error: " << error.message() << "\n";
        return 0;
    }
    std::cerr << "an option out of range was accepted\n";
    return 1;
}
