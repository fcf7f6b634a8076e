#include "distlab/train/scheme.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "dist/core/fail.h"
#include "dist/group/process_group.h"
#include "dist/parallel/data_parallel.h"
#include "dist/parallel/distributed_data_parallel.h"
#include "dist/parallel/parameter_server.h"

namespace distlab {
namespace {

namespace nn = dist::nn;

double in_seconds(dist::Timeout duration) { return std::chrono::duration<double>(duration).count(); }

// One rank: alone, or one of several that each have a copy of the model.
class Single : public Scheme {
 public:
  explicit Single(const SchemeRecipe& recipe)
      : model_(recipe.make_model()), optimizer_(recipe.make_optimizer(*model_)) {
    model_->to(recipe.devices.front());
  }
  nn::Module& model() override { return *model_; }
  nn::Module& module() override { return *model_; }
  nn::Optimizer& optimizer() override { return *optimizer_; }
  void step() override { optimizer_->step(); }
  bool has_graphs() const override { return true; }

 private:
  const std::unique_ptr<nn::Module> model_;
  const std::unique_ptr<nn::Optimizer> optimizer_;
};

// find_unused_parameters keeps the buckets of the first step, so that a resumed run adds in the same order as
// a run that never stopped. But then the host reads in each step which parameters were used, which a graph
// cannot wait for: a run with its all-reduces in the graph learns its buckets instead.
class Ddp : public Single {
 public:
  explicit Ddp(const SchemeRecipe& recipe)
      : Single(recipe),
        ddp_(model(), {.first_bucket_bytes = recipe.bucket_bytes,
                       .bucket_bytes = recipe.bucket_bytes,
                       .find_unused_parameters = !recipe.is_one_graph}) {}
  nn::Module& module() override { return ddp_; }
  double exposed_in_backward() const override { return in_seconds(ddp_.exposed()); }

 private:
  dist::DistributedDataParallel ddp_;
};

class Server : public Single {
 public:
  explicit Server(const SchemeRecipe& recipe) : Single(recipe), server_(model(), optimizer()) {}
  void step() override { server_.step(); }
  bool has_graphs() const override { return false; }
  double exposed_in_step() const override { return in_seconds(server_.exposed()); }

 private:
  dist::ParameterServer server_;
};

// The optimizer updates only the first replica's parameters; the other replicas get copies.
class Threads : public Scheme {
 public:
  explicit Threads(const SchemeRecipe& recipe)
      : replicas_(recipe.make_model, static_cast<int>(recipe.devices.size()), recipe.devices),
        optimizer_(recipe.make_optimizer(model())) {}
  nn::Module& model() override { return replicas_.module(); }
  nn::Module& module() override { return replicas_; }
  nn::Optimizer& optimizer() override { return *optimizer_; }
  void step() override { optimizer_->step(); }

 private:
  dist::DataParallel replicas_;
  const std::unique_ptr<nn::Optimizer> optimizer_;
};

template <class S>
std::unique_ptr<Scheme> make(const SchemeRecipe& recipe) {
  return std::make_unique<S>(recipe);
}

constexpr std::array table{
    SchemeEntry{"ddp", "DistributedDataParallel", Workers::ranks, make<Ddp>},
    SchemeEntry{"ps", "a parameter server, which is rank 0", Workers::ranks, make<Server>},
    SchemeEntry{"dp", "DataParallel: one process, --nproc threads", Workers::threads, make<Threads>},
    SchemeEntry{"single", "one rank alone", Workers::one, make<Single>},
};

}  // namespace

bool is_one_graph(const TrainOptions& options) {
  return options.device != "cpu" && options.graph && dist::get_backend() == "nccl";
}

bool has_gpu_steps(const TrainOptions& options, const Scheme& scheme) {
  return options.device != "cpu" && options.graph && scheme.has_graphs();
}

std::span<const SchemeEntry> schemes() { return table; }

const SchemeEntry& scheme_named(std::string_view name) {
  const auto found = std::ranges::find(table, name, &SchemeEntry::name);
  if (found != table.end()) return *found;
  dist::fail(dist::Errc::invalid_argument, "there is no scheme \"{}\"; ./distlab train --help lists them",
             name);
}

}  // namespace distlab
