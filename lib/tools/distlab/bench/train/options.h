// The options of ./distlab bench train.
#pragma once

#include <cstdint>
#include <string>

namespace distlab {

struct TrainBenchOptions {
  std::string model = "gpt";   // or "convnet"
  std::string device = "cpu";  // or "cuda"
  std::string dtype = "f32";   // or "tf32", "bf16"
  int threads = 1;
  std::int64_t batch_size = 0;  // 0: 12 sequences or 64 images
  std::int64_t layers = 4, heads = 4, width = 128, context = 64, vocab = 65;
  int steps = 0;        // per turn; 0: as many as take 500 ms
  int repeats = 9;      // turns; their median is reported
  std::string compare;  // "pytorch"; empty: no comparison
  std::string json;     // a file, "-" for standard output; empty: none
};

}  // namespace distlab
