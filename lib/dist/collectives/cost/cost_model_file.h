// The cost model of this machine as a file in the user's folder: JSON, written by a calibration, read when
// an algorithm is chosen or a choice explained.
//
//   {"alpha_us": 1.5, "beta_ns_per_byte": 0.2, ...}     a figure that is left out keeps its default
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "dist/collectives/cost/cost_model.h"

namespace dist {

// The path: DIST_COST_MODEL, else $XDG_CONFIG_HOME/distlab/cost_model.json, else
// ~/.config/distlab/cost_model.json; empty where neither these variables nor HOME are set. `by_tcp`: for
// ranks whose messages go over TCP, cost_model_tcp.json.
std::filesystem::path cost_model_path(bool by_tcp = false);

// nullopt when there is no such file. Error{invalid_argument}: the file is not a regular one, cannot be read,
// is not a JSON object, or holds something that is not a figure of a cost model (unknown, not a number,
// negative, a segment of less than 1 KiB or more than 1 GiB); the message names it.
std::optional<CostModel> load_cost_model(const std::filesystem::path& path, const CostModel& defaults = {});

// What is known about this machine: figures that a calibration saved in `file`, or round figures and an empty
// path; the latter, too, where this user cannot read the file and DIST_COST_MODEL does not ask for it.
struct KnownCosts {
  CostModel model;
  std::filesystem::path file;
};
KnownCosts known_costs(bool by_tcp = false);  // throws the same errors as load_cost_model()

// The model as text, in the form that a file has. `source` names the text in errors.
std::string to_json(const CostModel& model);
CostModel cost_model_from_json(const std::string& text, const std::string& source,
                               const CostModel& defaults = {});

// Makes the folders of the path. Error{invalid_argument}: the path cannot be written.
void save_cost_model(const CostModel& model, const std::filesystem::path& path);

}  // namespace dist
