#include "dist/nn/checkpoint.h"

#include <memory>
#include <utility>

#include "dist/core/fail.h"
#include "dist/nn/kept.h"
#include "dist/nn/module.h"

namespace dist::nn {

namespace {

class Recompute final : public ModuleHook {
 public:
  explicit Recompute(Module& module) : forwards_(module) {}

  // As everything below the module this keeps one value per forward, and forget_forward() drops it, too.
  Tensor before_forward(Module& module, const Tensor& input) override {
    current_ = {input, module.position(), module.is_training()};
    forwards_.keep(current_);
    return input;
  }
  Tensor after_forward(Module& module, const Tensor& output) override {
    module.forget_forward();
    forwards_.keep(std::exchange(current_, {}));
    return output;
  }
  Tensor before_backward(Module& module, const Tensor& grad_output) override {
    const Forward forward = forwards_.take();
    if (forward.trains != module.is_training())
      fail(Errc::invalid_argument,
           "{}: its forward() was in {}, and its backward(), which computes it again, is in {}: call train() "
           "and "
           "eval() before a forward() or after its backward()",
           module.str(), mode(forward.trains), mode(module.is_training()));
    const PositionOf at(module, forward.position);
    (void)module.forward_again(forward.input);
    return grad_output;
  }
  void abandon(Module&) noexcept override { current_ = {}; }

 private:
  struct Forward {
    Tensor input;
    Position position;
    bool trains = true;
  };
  static const char* mode(bool trains) { return trains ? "training" : "evaluation"; }
  // The module is at another position while it lives, and afterwards, even after an error, where it was.
  struct PositionOf {
    Module& module;
    const Position before = module.position();
    PositionOf(Module& of, const Position& position) : module(of) { module.set_position(position); }
    ~PositionOf() { module.set_position(before); }
  };
  Forward current_;  // the one that is under way
  Kept<Forward> forwards_;
};

}  // namespace

void checkpoint(Module& module) { module.add_hook(std::make_shared<Recompute>(module)); }

}  // namespace dist::nn
