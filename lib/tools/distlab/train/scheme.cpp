#include "distlab/train/scheme.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

#include "dist/core/fail.h"
#include "dist/parallel/distributed_data_parallel.h"

namespace distlab {
namespace {

namespace nn = dist::nn;

class Single : public Scheme {
 public:
  explicit Single(nn::Module& model) : model_(model) {}
  nn::Module& module() override { return model_; }
  double exposed() const override { return 0; }

 private:
  nn::Module& model_;
};

// Small buckets: the ConvNet fits into one of PyTorch's, and nothing would overlap. find_unused_parameters
// makes them stay as they are from the first step on, so that a resumed run adds in the same order as one
// that never stopped.
constexpr std::size_t bucket_bytes = std::size_t{32} << 10;

class Ddp : public Scheme {
 public:
  explicit Ddp(nn::Module& model)
      : ddp_(model, {.first_bucket_bytes = bucket_bytes,
                     .bucket_bytes = bucket_bytes,
                     .find_unused_parameters = true}) {}
  nn::Module& module() override { return ddp_; }
  double exposed() const override { return std::chrono::duration<double>(ddp_.exposed()).count(); }

 private:
  dist::DistributedDataParallel ddp_;
};

template <class S>
std::unique_ptr<Scheme> make(nn::Module& model) {
  return std::make_unique<S>(model);
}

constexpr std::array table{
    SchemeEntry{"single", true, make<Single>},
    SchemeEntry{"ddp", false, make<Ddp>},
};

}  // namespace

std::span<const SchemeEntry> schemes() { return table; }

const SchemeEntry& scheme_named(std::string_view name) {
  const auto found = std::ranges::find(table, name, &SchemeEntry::name);
  if (found != table.end()) return *found;
  dist::fail(dist::Errc::invalid_argument, "there is no scheme \"{}\"", name);
}

}  // namespace distlab
