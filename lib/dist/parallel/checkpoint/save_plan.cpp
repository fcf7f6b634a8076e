#include "dist/parallel/checkpoint/save_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "dist/core/fail.h"
#include "dist/core/shape.h"

namespace dist {

namespace {

struct Held {
  int rank;
  Shape offset, shape;
};

bool is_inside(const Held& box, const Shape& whole) {
  if (box.offset.size() != whole.size() || box.shape.size() != whole.size()) return false;
  for (std::size_t k = 0; k < whole.size(); ++k)
    if (box.offset[k] < 0 || box.shape[k] < 0 || box.offset[k] + box.shape[k] > whole[k]) return false;
  return true;
}

bool overlap(const Held& a, const Held& b) {
  for (std::size_t k = 0; k < a.offset.size(); ++k)
    if (a.offset[k] + a.shape[k] <= b.offset[k] || b.offset[k] + b.shape[k] <= a.offset[k]) return false;
  return true;
}

// Distinct boxes of one tensor, none empty. Those that follow each other along the first axis cannot overlap.
void check_boxes(const std::string& tensor, const Shape& whole, std::vector<Held> boxes) {
  std::int64_t covered = 0;
  const auto begin = [](const Held& box) { return box.offset.empty() ? 0 : box.offset[0]; };
  std::ranges::sort(boxes, {}, begin);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    covered += product(boxes[i].shape);
    for (std::size_t j = i + 1; j < boxes.size(); ++j) {
      if (!whole.empty() && begin(boxes[j]) >= begin(boxes[i]) + boxes[i].shape[0]) break;
      if (overlap(boxes[i], boxes[j]))
        fail(Errc::mismatch,
             "of \"{}\", ranks {} and {} have boxes that overlap, {} at {} and {} at {}: pass what "
             "pieces_of() says of "
             "the same model on every rank",
             tensor, boxes[i].rank, boxes[j].rank, to_string(boxes[i].shape), to_string(boxes[i].offset),
             to_string(boxes[j].shape), to_string(boxes[j].offset));
    }
  }
  if (covered < product(whole))
    fail(Errc::mismatch,
         "of \"{}\", {}, the ranks have {} elements together: pass the pieces of all ranks of the mesh",
         tensor, to_string(whole), covered);
}

}  // namespace

std::string file_of(int rank) { return fmt::format("rank-{:05}.safetensors", rank); }

std::string told(const Pieces& pieces) {
  Json all = Json::array();
  for (const Piece& p : pieces)
    all.push_back({p.name, std::string(name(p.data.dtype())), p.whole, p.offset, p.data.shape()});
  return json_text(all);
}

SavePlan plan_save(const std::vector<std::string>& all, int rank) {
  SavePlan plan;
  std::map<std::string, std::vector<Held>> boxes;  // distinct ones, by tensor
  std::map<std::string, int> times;                // how often a box is held, by tensor and box
  std::vector<std::string> own;
  for (int r = 0; r < static_cast<int>(all.size()); ++r) {
    int number = 0;
    for (const Json& told : parse_json(all[static_cast<std::size_t>(r)])) {
      const auto tensor = told[0].get<std::string>();
      Json& entry = plan.tensors[tensor];
      if (entry.is_null()) entry = {{"dtype", told[1]}, {"shape", told[2]}, {"pieces", Json::array()}};
      if (entry["dtype"] != told[1] || entry["shape"] != told[2])
        fail(Errc::mismatch,
             "\"{}\" is {} {} on rank {}, and {} {} on an earlier one: save the same model on every rank, "
             "and give "
             "different parameters different names",
             tensor, json_text(told[2]), told[1].get<std::string>(), r, json_text(entry["shape"]),
             entry["dtype"].get<std::string>());
      const Held box{r, told[3].get<Shape>(), told[4].get<Shape>()};
      if (!is_inside(box, told[2].get<Shape>()))
        fail(Errc::mismatch,
             "of \"{}\", {}, rank {} has {} at {}, which is not inside; call reshard() before you take a "
             "parameter's "
             "tensor yourself, or pass what pieces_of() says",
             tensor, json_text(told[2]), r, json_text(told[4]), json_text(told[3]));
      std::string id = tensor + json_text(told[3]) + json_text(told[4]);
      const bool is_first = product(box.shape) > 0 && ++times[id] == 1;
      std::string key = is_first ? fmt::format("{}#{}", tensor, number++) : "";
      if (is_first) {
        boxes[tensor].push_back(box);
        entry["pieces"].push_back(
            {{"file", file_of(r)}, {"key", key}, {"offset", told[3]}, {"shape", told[4]}});
      }
      if (r != rank) continue;
      plan.own_keys.push_back(std::move(key));
      own.push_back(std::move(id));
    }
  }
  for (const auto& [tensor, entry] : plan.tensors.items())
    check_boxes(tensor, entry["shape"].get<Shape>(), std::move(boxes[tensor]));
  plan.any_copies = std::ranges::any_of(times, [](const auto& box) { return box.second > 1; });
  for (const std::string& id : own) plan.has_copies.push_back(times[id] > 1);
  return plan;
}

}  // namespace dist
