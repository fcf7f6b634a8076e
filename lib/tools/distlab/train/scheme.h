// Schemes: how several train one model together.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "dist/nn/module.h"
#include "dist/nn/sgd.h"

namespace distlab {

// Small buckets: the ConvNet fits into one of PyTorch's, and nothing would overlap.
inline constexpr std::size_t ddp_bucket_bytes = std::size_t{32} << 10;

// What a scheme is made of.
struct SchemeRecipe {
  std::function<std::unique_ptr<dist::nn::Module>()> make_model;  // every time the same, on the CPU
  dist::nn::SGDOptions sgd;
  std::vector<dist::Device> devices;  // of this process's copies of the model
};

// On every rank of the default group, alike.
class Scheme {
 public:
  virtual ~Scheme() = default;
  // The model by itself: what is looked at, saved and loaded.
  virtual dist::nn::Module& model() = 0;
  // What goes through forward and backward in its place.
  virtual dist::nn::Module& module() = 0;
  virtual dist::nn::SGD& optimizer() = 0;
  // The optimizer's step, on all ranks.
  virtual void step() = 0;
  // Seconds that the last backward, the last step(), waited for other ranks with nothing else to do.
  virtual double exposed_in_backward() const { return 0; }
  virtual double exposed_in_step() const { return 0; }
};

// What works together, and what --nproc counts.
enum class Workers : std::uint8_t { one, ranks, threads };

struct SchemeEntry {
  std::string_view name, help;
  Workers workers;
  std::unique_ptr<Scheme> (*make)(const SchemeRecipe& recipe);
};

std::span<const SchemeEntry> schemes();
// Error{invalid_argument} when there is none.
const SchemeEntry& scheme_named(std::string_view name);

}  // namespace distlab
