#include <iostream>

#include <coterie/data/read.hpp>
#include <coterie/pipeline/pipeline.hpp>

// predict MODEL POINTS: labels the rows with a model file of `coterie fit`. The file also has the columns and scaling.
int main(int, char** words) {
    const auto model = coterie::Pipeline::load(words[1]);
    const auto file = coterie::read_points(words[2]);
    std::cout << "label\n";
    for (const auto label : model.predict(file.points, file.column_names)) std::cout << label << '\n';
}
