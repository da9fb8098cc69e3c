#include <iostream>
#include <map>

#include <coterie/data/read.hpp>
#include <coterie/subspace/subspace.hpp>

// Five labelled digits per class, 1747 without a label.
int main() {
    const auto digits = coterie::read_points("data:digits");
    const auto& truth = digits.labels->labels;
    coterie::Labels known(truth.size(), -1);
    std::map<int, int> taken;
    for (std::size_t i = 0; i < truth.size(); ++i)
        if (taken[truth[i]]++ < 5) known[i] = truth[i];

    const auto model = coterie::fit_subspace(
        {.points = digits.points, .partial_labels = known, .label_names = digits.labels->names}, {}, coterie::Run());
    int right = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) right += known[i] < 0 && model.labels()[i] == truth[i];
    std::cout << right << " of 1747 right, seen in " << model.directions().rows() << " dimensions\n";
}
