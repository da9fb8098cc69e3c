#pragma once
// Internal: a classifier's network from a file, up to its head: another classifier's model, or, for ResNet-18, weights
// as torchvision names them (conv1.weight, bn1.running_mean, layer2.0.downsample.0.weight, ...), whatever stands before
// all of the names ("module.", "backbone.").

#include <string>

#include "coterie/deep/network.hpp"

namespace coterie::internal {

/// torchvision's names of a ResNet-18's tensors, in the order of Parameters, without the head's.
std::vector<std::string> resnet18_names(const Architecture& architecture);

/// Replaces all of `parameters` but the head's by the tensors of a safetensors file. BadData (not such a file, a tensor
/// is not there or has another size, numbers that are not finite), ResourceError.
void read_trunk(const std::string& path, const Architecture& classifier, bool is_resnet18, Parameters& parameters);

/// The unit in which a network sees points (Network::set_unit): that of the model that `pretrained` names, 1 for
/// weights of other programs, which want the values they were trained on; unit_of(points) where none is named. What is
/// wrong with the file is found where it is read. To be called on every process.
double unit_for(const std::string& pretrained, PointsView points, const Run& run);

}  // namespace coterie::internal
