// DataParallel: one process, one thread and one replica for each part of a batch. As torch.nn.DataParallel,
// and like it a baseline: weights are copied and gradients summed by the first replica, one after the other,
// and nothing overlaps. Needs no process group.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "dist/nn/module.h"

namespace dist {

class DataParallel final : public nn::Module {
 public:
  // Makes `replicas` models, which must be alike; the first one's values count. Replica i lies on devices[i],
  // if given. Error{invalid_argument} for no replica and for another number of devices.
  using Factory = std::function<std::unique_ptr<nn::Module>()>;
  DataParallel(const Factory& factory, int replicas, const std::vector<Device>& devices = {});

  // Splits the first axis of the batch into balanced parts, one for each replica (a part may be empty: then
  // that replica rests), and puts the outputs together on the first one's device.
  Tensor forward(const Tensor& input) override;
  // Afterwards the first replica's gradients have grown by the sum of all: those of the whole batch.
  Tensor backward(const Tensor& grad_output) override;
  std::string str() const override;
  // The first replica: the one to update, save and load.
  nn::Module& module() { return *replicas_.front(); }

 private:
  // Calls f(replica, part) in a thread for each replica with a part; the results, put together.
  Tensor on_parts(const Tensor& whole, const std::function<Tensor(nn::Module&, const Tensor&)>& f);
  void copy_values();
  void sum_gradients();

  std::vector<std::unique_ptr<nn::Module>> replicas_;
  std::vector<Device> devices_;
};

}  // namespace dist
