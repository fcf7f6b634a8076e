// Schemes: how several ranks or threads train one model together.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "dist/nn/module.h"
#include "dist/nn/optimizer.h"

#include "distlab/train/options.h"

namespace distlab {

// Buckets are small, because the models fit into one of PyTorch's default buckets, and nothing would overlap.
inline constexpr std::size_t ddp_bucket_bytes = std::size_t{32} << 10;        // for the ConvNet
inline constexpr std::size_t ddp_text_bucket_bytes = std::size_t{512} << 10;  // for a GPT

// The ingredients of a scheme.
struct SchemeRecipe {
  std::function<std::unique_ptr<dist::nn::Module>()>
      make_model;  // returns the same model every time, on the CPU
  std::function<std::unique_ptr<dist::nn::Optimizer>(dist::nn::Module& model)> make_optimizer;
  std::vector<dist::Device> devices;  // of this process's copies of the model
  std::size_t bucket_bytes = ddp_bucket_bytes;
  bool is_one_graph = false;  // a recorded step has its collectives in the graph, where the scheme can
};

// Every rank of the default group must make the same calls.
class Scheme {
 public:
  virtual ~Scheme() = default;
  // The model itself, which is evaluated, saved and loaded.
  virtual dist::nn::Module& model() = 0;
  // The module that is called for forward and backward.
  virtual dist::nn::Module& module() = 0;
  virtual dist::nn::Optimizer& optimizer() = 0;
  // The optimizer's step, on all ranks.
  virtual void step() = 0;
  // Whether a step can be recorded as a graph (nn::GraphedStep).
  virtual bool has_graphs() const { return false; }
  // Seconds that the last backward or the last step() waited for other ranks with nothing left to compute.
  virtual double exposed_in_backward() const { return 0; }
  virtual double exposed_in_step() const { return 0; }
};

// What works together; --nproc counts them.
enum class Workers : std::uint8_t { one, ranks, threads };

struct SchemeEntry {
  std::string_view name, help;
  Workers workers;
  std::unique_ptr<Scheme> (*make)(const SchemeRecipe& recipe);
};

// Whether steps are recorded with their collectives: on GPUs, by backend nccl. The default group must exist.
bool is_one_graph(const TrainOptions& options);
// Whether the run's steps are those of gpu_steps.h.
bool has_gpu_steps(const TrainOptions& options, const Scheme& scheme);

std::span<const SchemeEntry> schemes();
// Throws Error{invalid_argument} when there is no such scheme.
const SchemeEntry& scheme_named(std::string_view name);

}  // namespace distlab
