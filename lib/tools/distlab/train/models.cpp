#include "distlab/train/models.h"

#include <algorithm>
#include <array>

#include "dist/core/fail.h"

#include "distlab/train/check_options.h"
#include "distlab/train/text/mesh_trainer.h"
#include "distlab/train/text/text_trainer.h"
#include "distlab/train/trainer.h"

namespace distlab {
namespace {

void train_text(const TrainOptions& options) {
  if (options.text.mesh.empty())
    TextTrainer(options).run();
  else
    MeshTrainer(options).run();
}

constexpr std::array all_models{
    ModelEntry{"convnet", "the ConvNet of the course notes, on images of digits", check_images,
               [](const TrainOptions& options) { Trainer(options).run(); }},
    ModelEntry{"gpt", "a transformer, on text", check_text, train_text},
};

}  // namespace

std::span<const ModelEntry> models() { return all_models; }

const ModelEntry& model_named(std::string_view name) {
  const auto found = std::ranges::find(all_models, name, &ModelEntry::name);
  if (found != all_models.end()) return *found;
  dist::fail(dist::Errc::invalid_argument, "there is no model \"{}\"; ./distlab train --help lists them",
             name);
}

}  // namespace distlab
