#include "distlab/train/text/step_memory.h"

#include <algorithm>

#include <fmt/format.h>

#include "dist/core/memory/arena.h"
#include "dist/core/whole_file.h"

namespace distlab {
namespace {

using dist::Tensor;
using dist::drawing::Phase;
namespace nn = dist::nn;

// These hooks run inside all others, so that what the others gather is there.
class Watch final : public nn::ModuleHook {
 public:
  Watch(std::shared_ptr<StepMemory::Recorded> recorded, std::string unit)
      : recorded_(std::move(recorded)), unit_(std::move(unit)) {}
  Tensor before_forward(nn::Module&, const Tensor& input) override { return noted(Phase::forward, input); }
  Tensor after_forward(nn::Module&, const Tensor& output) override { return noted(Phase::forward, output); }
  Tensor before_backward(nn::Module&, const Tensor& grad) override { return noted(Phase::backward, grad); }
  Tensor after_backward(nn::Module&, const Tensor& grad) override { return noted(Phase::backward, grad); }

 private:
  const Tensor& noted(Phase phase, const Tensor& passing) {
    recorded_->note(phase, unit_);
    return passing;
  }
  const std::shared_ptr<StepMemory::Recorded> recorded_;
  const std::string unit_;
};

// "transformer.h.3.attn.c_attn" is of "h.3". Empty: a module that only contains others.
std::string unit_of(const std::string& module) {
  constexpr std::string_view blocks = "transformer.h.";
  if (module.starts_with(blocks)) {
    const auto end = module.find('.', blocks.size());
    return module.substr(blocks.size() - 2, end == module.npos ? end : end - blocks.size() + 2);
  }
  if (module == "lm_head" || module == "transformer.ln_f") return "head";
  return module.starts_with("transformer.w") || module == "transformer.drop" ? "embedding" : "";
}

}  // namespace

void StepMemory::Recorded::note(Phase phase, const std::string& unit) {
  if (is_on) add(bars, {phase, unit, static_cast<double>(dist::Arena::local().in_use())});
}

StepMemory::StepMemory(dist::HybridGpt& model) {
  for (const auto& stage : model.stages())
    for (const auto& [name, module] : stage->named_modules())
      if (std::string unit = unit_of(name); !unit.empty())
        module->add_hook(std::make_shared<Watch>(recorded_, std::move(unit)));
}

void StepMemory::begin() { recorded_->is_on = true; }
void StepMemory::update() { recorded_->note(Phase::update, "optimizer"); }
void StepMemory::end() { recorded_->is_on = false; }

std::string StepMemory::text(int width) const {
  const auto& bars = recorded_->bars;
  const auto most = std::ranges::max_element(bars, {}, &dist::drawing::MemoryBar::bytes);
  const char* const when = most->phase == Phase::forward    ? "forward of"
                           : most->phase == Phase::backward ? "backward of"
                                                            : "the step of the";
  std::string text = fmt::format("memory of rank 0's tensors over a step: at most {:.1f} MiB, in {} {}\n{}",
                                 most->bytes / (1 << 20), when, most->unit, memory_text(bars, width));
  text.pop_back();  // the end of the last line
  return text;
}

void StepMemory::plot(const std::filesystem::path& folder, const std::string& title) const {
  dist::write_whole_file(folder / "memory.svg", memory_svg(recorded_->bars, title));
}

}  // namespace distlab
