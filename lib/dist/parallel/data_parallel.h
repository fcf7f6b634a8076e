// Several devices of one process, without a process group: a replica of the model on each (DataParallel), or
// a part of the model on each (place).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "dist/nn/module.h"

namespace dist {

// One thread and one replica for each part of a batch. As torch.nn.DataParallel, it is a baseline: the first
// replica copies the weights and sums the gradients, one replica after another, and nothing overlaps.
class DataParallel final : public nn::Module {
 public:
  // Makes `replicas` models, which must be built identically; the first one's values are used. Replica i is
  // on devices[i], if given. Throws Error{invalid_argument} for no replica and for a different number of
  // devices.
  using Factory = std::function<std::unique_ptr<nn::Module>()>;
  DataParallel(const Factory& factory, int replicas, const std::vector<Device>& devices = {});

  // Splits the first axis of the batch into balanced parts, one per replica (a part may be empty: then that
  // replica is idle), and joins the outputs on the first replica's device.
  Tensor run_forward(const Tensor& input) override;
  // Adds the sum of all replicas' gradients, those of the whole batch, to the first replica's.
  Tensor run_backward(const Tensor& grad_output) override;
  std::string str() const override;
  // The first replica: the one to update, save and load.
  nn::Module& module() { return *replicas_.front(); }

 private:
  // Calls f(replica, part) in one thread per replica that has a part; returns the results, joined.
  Tensor on_parts(const std::vector<Tensor>& parts,
                  const std::function<Tensor(nn::Module&, const Tensor&)>& f);
  void copy_values();
  void sum_gradients();

  std::vector<std::unique_ptr<nn::Module>> replicas_;
  std::vector<Device> devices_;
};

// Moves the module to the device, where it computes from now on: forward() copies its input there, backward()
// copies the gradient of the output there and returns that of the input on the input's device. A Sequential
// whose modules are placed is one model over several devices, which take turns: each waits while another one
// computes (parallel/pipeline keeps them busy). A DistributedDataParallel may wrap it. Call it before
// anything that points into the module's tensors.
void place(nn::Module& module, Device device);

}  // namespace dist
