// FlopMeter: what a training speed means in floating-point operations per second, and as an MFU, model FLOPs
// utilization: the share of the FLOP/s that the machine could reach.
#pragma once

#include <string>
#include <vector>

#include "dist/core/device.h"
#include "dist/core/types.h"

#include "distlab/train/options.h"

namespace distlab {

inline constexpr const char* matmul_peak = "matmul";  // --peak-flops

class FlopMeter {
 public:
  // The operations of one token or image, and the FLOP/s that all ranks together could reach, or NaN.
  FlopMeter(double flops_per_item, double peak) : flops_per_item_(flops_per_item), peak_(peak) {}
  double per_second(double items_per_s) const { return flops_per_item_ * items_per_s; }
  double mfu(double items_per_s) const { return per_second(items_per_s) / peak_; }
  // "31.2 GFLOP/s, MFU 43.1 %", without the second part if the peak is not known.
  std::string text(double items_per_s) const;

 private:
  double flops_per_item_, peak_;
};

// Forward and backward of one image in the ConvNet, whose input needs no gradient: the products of
// convolutions and linear layers, and nothing else.
double training_flops_per_image();

// What --peak-flops says, of all ranks, on each of which several devices may compute at once. NaN: nothing.
// "matmul" is measured in a third of a second by products of large matrices of that dtype, on all of them at
// once. Collective.
double peak_of_all(const TrainOptions& options, const std::vector<dist::Device>& devices, dist::DType dtype);

}  // namespace distlab
