#include <iostream>

#include <coterie/data/read.hpp>
#include <coterie/kmeans/kmeans.hpp>

// The exceptions for arguments and files that are not accepted.
int main() {
    const auto iris = coterie::read_points("data:iris");
    try {
        coterie::fit_kmeans(iris.points, {.clusters = 200});
    } catch (const coterie::BadArgument& error) {  // also a std::invalid_argument
        std::cout << "argument: " << error.message() << '\n';
    }
    try {
        coterie::read_points("no-such-file.csv");
    } catch (const coterie::Error& error) {  // any error of the library; kind() tells them apart
        std::cout << (error.kind() == coterie::ErrorKind::bad_data ? "data: " : "other: ") << error.message() << '\n';
    }
}
