#include "dist/backend/staging.h"

#include <utility>

#include "dist/core/kernels.h"

namespace dist {

namespace {

std::vector<Tensor> twins_of(const TensorList& tensors, bool with_elements) {
  std::vector<Tensor> twins;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    twins.push_back(empty({tensors[i].count}, tensors[i].dtype));
    if (with_elements) copy(twins.back().flat(), tensors[i]);
  }
  return twins;
}

// Whether elements that were in the outputs before count.
bool reads_outputs(OpKind kind) {
  return kind == OpKind::broadcast || kind == OpKind::reduce || kind == OpKind::all_reduce;
}

void finish_current_stream(Device device) {
  device_api(device.type).synchronize(device, current_stream(device));
}

}  // namespace

StagedOperation::StagedOperation(const Operation& original) : original_(original), host_(original) {
  original_.own_tensors();
  host_.inputs = TensorList(twins_of(original.inputs, true));
  host_.outputs = TensorList(twins_of(original.outputs, reads_outputs(original.kind)));
  finish_current_stream(original.device());
}

void StagedOperation::copy_back() {
  for (std::size_t i = 0; i < original_.outputs.size(); ++i) copy(original_.outputs[i], host_.outputs[i]);
  finish_current_stream(original_.device());
}

}  // namespace dist
