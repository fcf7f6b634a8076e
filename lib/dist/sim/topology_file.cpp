// Topologies from JSON. Reader gives typed access to the values, with errors that name the file, the line and
// the key; parse_topology() checks the values against each other; load_topology() takes a built-in name, a
// path or the text itself.
#include "dist/sim/topology_file.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "dist/core/fail.h"
#include "dist/core/json.h"
#include "dist/core/json_error.h"
#include "dist/core/whole_file.h"

namespace dist::sim {
namespace {

constexpr double most_gpus = 1 << 20;  // per node, or in all: beyond any machine

class Reader {
 public:
  Reader(std::string_view text, const std::string& where) : text_(text), where_(where) {
    try {
      root_ = parse_json(text);
    } catch (const Json::parse_error& error) {
      fail(Errc::invalid_argument, "{}:{}: this is not JSON: {}", where_, line_at(error.byte),
           json_error(error.what()));
    } catch (const Json::exception& error) {  // 1e400
      fail(Errc::invalid_argument, "{}: {}", where_, json_error(error.what()));
    }
    if (!root_.is_object()) refuse("", "", "a topology is an object: {\"intra\": ..., ...}");
  }

  const Json& root() const { return root_; }

  void only_these(const Json& object, const std::string& parent, const std::vector<std::string>& keys) const {
    for (const auto& [key, value] : object.items()) {
      if (std::ranges::find(keys, key) == keys.end())
        refuse(parent, key, fmt::format("is not a key here; the keys are {}", fmt::join(keys, ", ")));
    }
  }

  // A number from `least` to `most`. `otherwise` is for a missing key; if it is NaN, the key must exist.
  double number(const Json& object, const std::string& parent, const std::string& key, double otherwise,
                double least, double most) const {
    if (!object.contains(key)) {
      if (std::isnan(otherwise)) refuse(parent, key, "is missing");
      return otherwise;
    }
    const Json& value = object[key];
    if (!value.is_number()) refuse(parent, key, fmt::format("must be a number, not {}", json_text(value)));
    const auto found = value.get<double>();
    if (!(found >= least && found <= most))
      refuse(parent, key, fmt::format("is {}; it must be from {} to {}", json_text(value), least, most));
    return found;
  }

  int count(const std::string& key) const {
    const double found = number(root_, "", key, 0, 0, most_gpus);
    if (found != std::floor(found)) refuse("", key, fmt::format("is {}; it must be whole", found));
    return static_cast<int>(found);
  }

  LinkFigures link(const std::string& key) const {
    if (!root_.contains(key)) refuse("", key, "is missing");
    const Json& object = root_[key];
    if (!object.is_object()) refuse("", key, "must be {\"latency_us\": ..., \"bandwidth_gb_s\": ...}");
    only_these(object, key, {"latency_us", "bandwidth_gb_s"});
    return {number(object, key, "latency_us", NAN, 0, 1e6) * 1e-6,
            number(object, key, "bandwidth_gb_s", NAN, 1e-6, 1e6) * 1e9};
  }

  [[noreturn]] void refuse(const std::string& parent, const std::string& key, std::string_view why) const {
    const std::string path = (parent.empty() ? key : parent + "." + key) + (key.empty() ? "" : " ");
    fail(Errc::invalid_argument, "{}:{}: {}{}", where_, line_of(parent, key), path, why);
  }

 private:
  int line_at(std::size_t byte) const {
    const auto before = text_.substr(0, std::min(byte, text_.size()));
    return 1 + static_cast<int>(std::ranges::count(before, '\n'));
  }

  // The line of the key, or of its parent if the key is missing.
  int line_of(const std::string& parent, const std::string& key) const {
    const auto find = [this](const std::string& name, std::size_t from) {
      return name.empty() ? from : text_.find('"' + name + '"', from);
    };
    const std::size_t start = find(parent, 0);
    const std::size_t at = find(key, start);
    return line_at(at != std::string_view::npos ? at : start);
  }

  std::string_view text_;
  const std::string& where_;
  Json root_;
};

std::string names() {
  std::string text;
  for (const auto& builtin : builtin_topologies())
    text += fmt::format("{}{}", text.empty() ? "" : ", ", builtin.name);
  return text;
}

}  // namespace

Topology parse_topology(std::string_view text, const std::string& where, const std::string& name) {
  const Reader in(text, where);
  in.only_these(in.root(), "",
                {"about", "max_ranks", "gpus_per_node", "nics_per_node", "switch_radix", "overhead_us",
                 "intra", "inter", "reduce_gb_s", "tflops", "sources"});
  Topology topology;
  topology.name = name;
  if (in.root().contains("about")) {
    if (!in.root()["about"].is_string()) in.refuse("", "about", "must be a text");
    topology.about = in.root()["about"];
  }
  topology.max_ranks = in.count("max_ranks");
  topology.gpus_per_node = in.count("gpus_per_node");
  topology.nics_per_node = in.count("nics_per_node");
  if (topology.nics_per_node > topology.gpus_per_node)
    in.refuse("", "nics_per_node",
              fmt::format("is {}; a GPU has at most one card, and gpus_per_node is {}",
                          topology.nics_per_node, topology.gpus_per_node));
  topology.switch_radix = in.count("switch_radix");
  if (topology.switch_radix == 1) in.refuse("", "switch_radix", "is 1; a switch has at least two ports");
  if (topology.switch_radix > 0 && topology.gpus_per_node == 0)
    in.refuse("", "switch_radix", "has no effect without gpus_per_node: one node holds all ranks");
  topology.overhead_s = in.number(in.root(), "", "overhead_us", 0, 0, 1e6) * 1e-6;
  topology.intra = in.link("intra");
  if (topology.gpus_per_node > 0)
    topology.inter = in.link("inter");
  else if (in.root().contains("inter"))
    in.refuse("", "inter", "has no effect without gpus_per_node: one node holds all ranks");
  if (const double rate = in.number(in.root(), "", "reduce_gb_s", 0, 0, 1e6); rate > 0)
    topology.reduce_seconds_per_byte = 1e-9 / rate;
  topology.flops = in.number(in.root(), "", "tflops", 0, 0, 1e6) * 1e12;
  return topology;
}

Topology load_topology(const std::string& name) {
  if (name.starts_with('{')) return parse_topology(name, "the topology's text", "of its own");
  for (const auto& builtin : builtin_topologies()) {
    if (builtin.name == name) return parse_topology(builtin.text, name + ".json", name);
  }
  if (name.find('/') == std::string::npos && !name.ends_with(".json")) {
    fail(Errc::invalid_argument, "there is no topology '{}': choose {}, or give a path to a JSON file", name,
         names());
  }
  refuse_device("topology", name);
  std::ifstream file(name);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) fail(Errc::invalid_argument, "topology {}: cannot be read", name);
  return parse_topology(text.str(), name, std::filesystem::path(name).stem().string());
}

}  // namespace dist::sim
