// How layers compute, in this process and from now on: on how many threads, and how exactly.
#pragma once

#include <string_view>

namespace dist::nn {

// How many threads the arithmetic of a layer on the CPU may use: n >= 1, otherwise throws
// Error{invalid_argument}. Initially 1, since ranks share the cores; more threads help a rank that has
// several cores to itself. There is more than one only with oneDNN, since the threads are its own. Loops and
// attention give the same bits for any number of threads; oneDNN may divide a convolution or a matrix product
// along the axis that it sums over.
void set_num_threads(int n);
int num_threads();

// How exactly products of f32 matrices are computed, as torch.set_float32_matmul_precision: "highest"
// (initially) in f32; "high" with factors rounded to TF32's 11 significant bits, "medium" to bf16's 8, and
// sums in f32. A GPU with tensor cores is several times faster then. On a CPU, in f64 and in bf16 it changes
// nothing. Throws Error{invalid_argument} for any other word.
void set_matmul_precision(std::string_view precision);
std::string_view matmul_precision();

// Whether a GPU may compute convolutions of f32 images with factors rounded to TF32's 11 significant bits, as
// torch.backends.cudnn.allow_tf32: initially it may. Turn it off to compare losses with those of a CPU.
void set_tf32_convolutions(bool allowed);
bool tf32_convolutions();

}  // namespace dist::nn
