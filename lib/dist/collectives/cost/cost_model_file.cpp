// The cost model as JSON. A table of figures with their units serves to_json() and cost_model_from_json();
// the file is found by cost_model_path(), and known_costs() falls back to round figures where there is none.
#include "dist/collectives/cost/cost_model_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/json.h"
#include "dist/core/whole_file.h"

namespace dist {
namespace {

namespace fs = std::filesystem;

struct Figure {
  std::string_view key;
  double CostModel::*value;
  double unit;  // in seconds or bytes
};
constexpr std::array figures{
    Figure{"alpha_us", &CostModel::alpha, 1e-6},
    Figure{"beta_ns_per_byte", &CostModel::beta, 1e-9},
    Figure{"gamma_ns_per_byte", &CostModel::gamma, 1e-9},
    Figure{"overhead_us", &CostModel::overhead, 1e-6},
    Figure{"handshake_us", &CostModel::handshake, 1e-6},
    Figure{"copy_ns_per_byte", &CostModel::copy, 1e-9},
    Figure{"segment_kib", &CostModel::segment, 1024},
    Figure{"near_alpha_us", &CostModel::near_alpha, 1e-6},
    Figure{"near_beta_ns_per_byte", &CostModel::near_beta, 1e-9},
    Figure{"near_overhead_us", &CostModel::near_overhead, 1e-6},
    Figure{"cards", &CostModel::cards, 1},
};

constexpr const char* path_variable = "DIST_COST_MODEL";
constexpr double least_segment = 1024, most_segment = 1 << 30;

[[noreturn]] void refuse(const std::string& source, std::string_view problem) {
  fail(Errc::invalid_argument, "the cost model {} {}; correct it, or delete it and calibrate again", source,
       problem);
}

std::string read(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) refuse(path.string(), "cannot be read");
  return text.str();
}

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

fs::path cost_model_path(bool by_tcp) {
  if (const auto path = variable(path_variable); !path.empty()) return path;
  const fs::path in_folder = fs::path("distlab") / (by_tcp ? "cost_model_tcp.json" : "cost_model.json");
  if (const auto folder = variable("XDG_CONFIG_HOME"); !folder.empty()) return folder / in_folder;
  if (const auto home = variable("HOME"); !home.empty()) return home / (".config" / in_folder);
  return {};
}

std::optional<CostModel> load_cost_model(const fs::path& path, const CostModel& defaults) {
  std::error_code unknown;
  const auto type = path.empty() ? fs::file_type::not_found : fs::status(path, unknown).type();
  if (type == fs::file_type::not_found) return std::nullopt;
  if (type != fs::file_type::regular && type != fs::file_type::none)
    refuse(path.string(), "is not a regular file");
  return cost_model_from_json(read(path), path.string(), defaults);
}

KnownCosts known_costs(bool by_tcp) {
  CostModel unmeasured = round_figures(by_tcp);
  if (by_tcp) {  // within a node, ranks share memory
    const CostModel near = known_costs(false).model;
    unmeasured.near_alpha = near.alpha;
    unmeasured.near_beta = near.beta;
    unmeasured.near_overhead = near.overhead;
  }
  const fs::path path = cost_model_path(by_tcp);
  // HOME may be another user's, which this one cannot read: nothing was calibrated for this one.
  if (variable(path_variable).empty() && ::access(path.c_str(), R_OK) != 0) return {unmeasured, {}};
  if (const auto measured = load_cost_model(path, unmeasured)) return {*measured, path};
  return {unmeasured, {}};
}

CostModel cost_model_from_json(const std::string& text, const std::string& source,
                               const CostModel& defaults) {
  const auto json = try_parse_json(text);
  if (json.is_discarded()) refuse(source, "is not JSON");
  if (!json.is_object()) refuse(source, "is not a JSON object");
  CostModel model = defaults;
  for (const auto& [key, value] : json.items()) {
    const auto figure = std::ranges::find(figures, key, &Figure::key);
    if (figure == figures.end()) refuse(source, fmt::format("has an unknown figure \"{}\"", key));
    if (!value.is_number() || !(value.get<double>() >= 0) || !std::isfinite(value.get<double>()))
      refuse(source, fmt::format("has {} for \"{}\", which is not a number >= 0", json_text(value), key));
    model.*figure->value = value.get<double>() * figure->unit;
  }
  if (model.segment < least_segment || model.segment > most_segment)
    refuse(source, fmt::format("has {} for \"segment_kib\", which is not from 1 to {}", model.segment / 1024,
                               most_segment / 1024));
  return model;
}

std::string to_json(const CostModel& model) {
  OrderedJson json;
  for (const Figure& figure : figures) json[std::string(figure.key)] = model.*figure.value / figure.unit;
  return json_text(json, 2);
}

void save_cost_model(const CostModel& model, const fs::path& path) {
  std::error_code problem;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), problem);
  try {
    write_whole_file(path, to_json(model) + '\n');
  } catch (const Error& error) {
    fail(Errc::invalid_argument, "the cost model was not saved: {}; DIST_COST_MODEL names the file",
         error.what());
  }
}

}  // namespace dist
