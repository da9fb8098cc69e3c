#include <cstdio>
#include <vector>

#include <coterie/kmeans/kmeans.hpp>

// The program has 1,000 records of 8 numbers. coterie clusters them by the first 3 numbers, without a copy.
int main() {
    coterie::RandomStream random(1, "example");
    std::vector<float> records(1000 * 8);
    for (float& value : records) value = static_cast<float>(random.uniform());
    for (std::size_t i = 0; i < 1000; ++i) records[8 * i] += i % 2 == 0 ? 0.0F : 5.0F;

    const coterie::PointsView points(records.data(), 1000, 3, 8);  // 8 numbers from one row to the next
    const auto model = coterie::fit_kmeans(points, {.clusters = 2});

    const float record[] = {5.5F, 0.5F, 0.5F};
    const bool with_first = model.predict(coterie::PointsView(record, 1, 3)).front() == model.labels()[0];
    std::printf("%td and %td points; the new one goes with record %d\n", model.fit_report().sizes[0],
                model.fit_report().sizes[1], with_first ? 0 : 1);
}
