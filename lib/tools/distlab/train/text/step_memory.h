// StepMemory: how much memory the tensors of this rank take while a step goes through a model on a mesh.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "dist/parallel/hybrid/hybrid_gpt.h"

#include "drawing/memory_bars.h"

namespace distlab {

class StepMemory {
 public:
  // Adds hooks to the model's modules, which do nothing outside of begin() and end().
  explicit StepMemory(dist::HybridGpt& model);

  void begin();
  void update();  // the optimizer has stepped
  void end();
  bool is_empty() const { return recorded_->bars.empty(); }
  // The most in use, and a bar for each block in forward and in backward.
  std::string text(int width) const;
  // Writes memory.svg into the folder. Throws Error{resource} if it cannot be written.
  void plot(const std::filesystem::path& folder, const std::string& title) const;

  struct Recorded {
    bool is_on = false;
    std::vector<dist::drawing::MemoryBar> bars;
    void note(dist::drawing::Phase phase, const std::string& unit);
  };

 private:
  const std::shared_ptr<Recorded> recorded_ = std::make_shared<Recorded>();
};

}  // namespace distlab
