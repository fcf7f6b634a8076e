// DataParallel: a batch is split into one part per replica, each part runs in a thread of its own, and the
// outputs are joined on the first replica's device. Before each forward the first replica's values are copied
// to the others; after each backward their gradients are added to its own. Last place(), a hook.
#include "dist/parallel/data_parallel.h"

#include <exception>
#include <thread>

#include "dist/core/counted.h"
#include "dist/core/device.h"
#include "dist/core/fail.h"

namespace dist {
namespace {

// The rows of all parts, one part after another.
Tensor joined(const std::vector<Tensor>& parts, Device device) {
  std::int64_t rows = 0;
  Shape shape;
  DType dtype = DType::f32;
  for (const Tensor& part : parts) {
    if (!part.is_defined()) continue;
    shape = part.shape();
    dtype = part.dtype();
    rows += part.size(0);
  }
  if (shape.empty()) return {};  // no part produced anything
  shape[0] = rows;
  Tensor whole = empty(shape, dtype, device);
  std::int64_t at = 0;
  for (const Tensor& part : parts) {
    if (!part.is_defined()) continue;
    whole.narrow(at, part.size(0)).copy_(part);
    at += part.size(0);
  }
  return whole;
}

// On a GPU each thread has a stream of its own: what one thread has enqueued must be done before another goes
// on.
void finish_work_on(const std::vector<Device>& devices) {
  for (const Device device : devices)
    if (device.type != DeviceType::cpu) device_api(device.type).synchronize(device, current_stream(device));
}

void rethrow_first(const std::vector<std::exception_ptr>& errors) {
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace

DataParallel::DataParallel(const Factory& factory, int replicas, const std::vector<Device>& devices)
    : devices_(devices) {
  if (replicas < 1) fail(Errc::invalid_argument, "DataParallel: {} replicas, at least 1 is needed", replicas);
  if (!devices.empty() && devices.size() != static_cast<std::size_t>(replicas))
    fail(Errc::invalid_argument, "DataParallel: {} for {}", counted(devices.size(), "device"),
         counted(replicas, "replica"));
  for (int i = 0; i < replicas; ++i) {
    replicas_.push_back(factory());
    if (devices.empty())
      devices_.push_back(cpu);
    else
      replicas_.back()->to(devices[static_cast<std::size_t>(i)]);
  }
  register_module("module", *replicas_.front());
}

Tensor DataParallel::run_forward(const Tensor& input) {
  copy_values();
  nn::Position position = replicas_.front()->position();
  const auto parts = input.chunk(static_cast<std::int64_t>(replicas_.size()));
  for (std::size_t i = 1; i < parts.size(); ++i) {
    position.first_row += parts[i - 1].size(0);
    replicas_[i]->set_position(position);
  }
  return on_parts(parts, [this](nn::Module& replica, const Tensor& part) {
    bool needs_grad = wants_input_grad();
    return forward_child(replica, part, needs_grad);
  });
}

Tensor DataParallel::run_backward(const Tensor& grad_output) {
  for (std::size_t i = 1; i < replicas_.size(); ++i) replicas_[i]->zero_grad();
  Tensor grad_input =
      on_parts(grad_output.chunk(static_cast<std::int64_t>(replicas_.size())),
               [](nn::Module& replica, const Tensor& part) { return replica.backward(part); });
  sum_gradients();
  return grad_input;
}

Tensor DataParallel::on_parts(const std::vector<Tensor>& parts,
                              const std::function<Tensor(nn::Module&, const Tensor&)>& f) {
  std::vector<Tensor> results(parts.size());
  std::vector<std::exception_ptr> errors(parts.size());
  finish_work_on(devices_);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].size(0) == 0) continue;
      threads.emplace_back([&, i] {
        try {
          results[i] = f(*replicas_[i], parts[i].to(devices_[i]));
          finish_work_on({devices_[i]});
        } catch (...) {
          errors[i] = std::current_exception();
        }
      });
    }
  }
  rethrow_first(errors);
  return joined(results, devices_.front());
}

void DataParallel::copy_values() {
  const nn::StateDict first = replicas_.front()->state_dict();
  const auto parameters = replicas_.front()->parameters();
  for (std::size_t i = 1; i < replicas_.size(); ++i) {
    // The first replica's modes: a module's own after those above it, which set all below.
    const auto modules = replicas_.front()->modules(), theirs = replicas_[i]->modules();
    if (modules.size() != theirs.size())
      fail(Errc::invalid_argument,
           "DataParallel: the first replica has {} modules now, the others {}; change the model in the "
           "factory",
           modules.size(), theirs.size());
    for (std::size_t m = 0; m < modules.size(); ++m) theirs[m]->train(modules[m]->is_training());
    replicas_[i]->load_state_dict(first);
    const auto others = replicas_[i]->parameters();
    for (std::size_t p = 0; p < parameters.size(); ++p)
      others[p]->requires_grad(parameters[p]->requires_grad());
  }
}

void DataParallel::sum_gradients() {
  const auto first = replicas_.front()->parameters();
  for (std::size_t i = 1; i < replicas_.size(); ++i) {
    const auto others = replicas_[i]->parameters();
    for (std::size_t p = 0; p < first.size(); ++p)
      if (first[p]->requires_grad()) first[p]->grad.add_(others[p]->grad.to(first[p]->grad.device()));
  }
}

std::string DataParallel::str() const {
  return fmt::format("DataParallel({} x {})", replicas_.size(), replicas_.front()->str());
}

namespace {

class OnDevice final : public nn::ModuleHook {
 public:
  explicit OnDevice(Device device) : device_(device) {}
  Tensor before_forward(nn::Module&, const Tensor& input) override {
    from_ = input.device();
    return input.to(device_);
  }
  Tensor before_backward(nn::Module&, const Tensor& grad_output) override { return grad_output.to(device_); }
  Tensor after_backward(nn::Module&, const Tensor& grad_input) override {
    return grad_input.is_defined() ? grad_input.to(from_) : grad_input;
  }

 private:
  const Device device_;
  Device from_ = cpu;
};

}  // namespace

void place(nn::Module& module, Device device) {
  module.to(device);
  module.add_outermost_hook(std::make_shared<OnDevice>(device));
}

}  // namespace dist
