#pragma once
// The papers' tables, each described in a file of its own.

#include "command_line.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie::cli {

/// Images of the catalogue with grey values from 0 to 1.
struct ImageSet {
    Points pixels;  // n x d, float
    Labels truth;   // 0..classes-1
    int classes = 0;
};
ImageSet read_images(const std::string& name, const Run& run);
/// So many of them drawn without replacement, in their order. All, where there are no more.
ImageSet some_of(const ImageSet& set, Index count, RandomStream random);

/// The folder of --checkpoint, made where it is not there. ResourceError.
void make_folder(const std::string& path);

Command reproduce_cpd_uml_command();
Command reproduce_dekm_coil_command();
Command reproduce_dekm_mnist_command();
Command reproduce_dekm_usps_command();
Command reproduce_entropy_em_command();
Command reproduce_entropy_linear_command();
Command reproduce_label_noise_command();
Command reproduce_max_margin_command();
Command reproduce_trefoil_lambda_command();
Command reproduce_trefoil_n_command();
Command reproduce_two_moons_command();
Command reproduce_vgg4_mnist_command();
Command reproduce_wmc_cifar_command();

}  // namespace coterie::cli
