// The process of one rank in the grading of lab 06: a rank of the grader's simulation that calls the graded
// functions as the task says. It allocates what the contract gives the caller and no other tensor, since the
// grader counts tensors.
#include "judge/runner.h"

#include <nlohmann/json.hpp>

#include "dist/dist.h"

#include "scatter_gather.h"

namespace {

using dist::Tensor, judge::Json;

Tensor tensor_of(const Json& numbers) {
  const std::vector<float> values = numbers;
  return dist::tensor(std::span<const float>(values));
}

std::vector<Tensor> tensors_of(const Json& shares) {
  std::vector<Tensor> list;
  for (const auto& share : shares) list.push_back(tensor_of(share));
  return list;
}

Json numbers_of(const std::vector<Tensor>& list) {
  Json shares = Json::array();
  for (const auto& tensor : list) shares.push_back(tensor.to_vector<float>());
  return shares;
}

bool is_same(const Tensor& now, const Tensor& given) {
  return now.is_defined() && now.raw() == given.raw() && now.shape() == given.shape();
}

Json scatter(const Json& round) {
  const auto list = tensors_of(round.at("inputs"));
  auto mine = tensor_of(round.at("outputs").at(0));
  const auto given = mine;
  lab::scatter(mine, list, round.at("root"));
  return {{"outputs", numbers_of({given})}, {"in_place", is_same(mine, given)}, {"inputs", numbers_of(list)}};
}

Json gather(const Json& round) {
  const auto mine = tensor_of(round.at("inputs").at(0));
  auto list = tensors_of(round.at("outputs"));
  const auto given = list;
  lab::gather(mine, list, round.at("root"));
  bool in_place = list.size() == given.size() || given.empty();
  for (std::size_t i = 0; i < given.size() && in_place; ++i) in_place = is_same(list[i], given[i]);
  return {{"outputs", numbers_of(given)}, {"in_place", in_place}, {"inputs", numbers_of({mine})}};
}

// Whether `part` is in the memory of `all`.
bool is_view(const Tensor& part, const Tensor& all) {
  if (!all.is_defined() || !part.is_defined() || part.numel() == 0) return false;
  const auto* begin = static_cast<const std::byte*>(all.raw());
  const auto* at = static_cast<const std::byte*>(part.raw());
  return at >= begin && at < begin + all.nbytes();
}

// The root's one tensor; undefined on the other ranks.
Tensor all_of(const Json& round) {
  return round.at("inputs").empty() ? Tensor{} : tensor_of(round.at("inputs").at(0));
}

Json inputs_of(const Tensor& all) { return all.is_defined() ? numbers_of({all}) : Json::array(); }

Json scatter_rows(const Json& round) {
  const std::int64_t columns = round.at("columns");
  auto all = all_of(round);
  if (all.is_defined()) all = all.view({all.numel() / columns, columns});
  const auto part = lab::scatter_rows(all, columns, round.at("root"));
  if (!part.is_defined()) throw std::invalid_argument("scatter_rows returns an undefined tensor");
  return {{"outputs", numbers_of({part})},
          {"in_place", true},
          {"inputs", inputs_of(all)},
          {"shape", part.shape()},
          {"is_view", is_view(part, all)}};
}

Json tree_scatter(const Json& round) {
  const auto all = all_of(round);
  auto mine = tensor_of(round.at("outputs").at(0));
  const auto given = mine;
  lab::tree_scatter(mine, all, round.at("root"));
  return {{"outputs", numbers_of({given})}, {"in_place", is_same(mine, given)}, {"inputs", inputs_of(all)}};
}

Json ends_of(const Tensor& t) {
  Json ends = Json::array();
  for (const auto at : {std::int64_t{0}, t.numel() - 1}) ends.push_back(t.narrow(at, 1).item<float>());
  return ends;
}

// Chunks too large to be reported number by number: all elements of a chunk have one value, rank r's is value
// + r. For each chunk the answer has the first and the last element.
struct Large {
  explicit Large(const Json& task)
      : elements(task.at("elements")),
        value(task.at("value")),
        root(task.at("root")),
        before(task.at("before")) {}
  Tensor chunk(int rank) const { return dist::full({elements}, static_cast<double>(value + rank)); }
  Tensor empty_chunk() const { return dist::full({elements}, before); }
  bool is_root() const { return dist::get_rank() == root; }
  static Json ends_of_all(const std::vector<Tensor>& chunks) {
    Json all = Json::array();
    for (const Tensor& chunk : chunks) all.push_back(ends_of(chunk));
    return all;
  }
  static Json reply(const Json& outputs, bool in_place, const Json& inputs) {
    return Json::array({{{"outputs", outputs}, {"in_place", in_place}, {"inputs", inputs}}});
  }

  const std::int64_t elements, value;
  const int root;
  const double before;
};

Json scatter_large(const Large& large) {
  std::vector<Tensor> list;
  for (int rank = 0; rank < dist::get_world_size() && large.is_root(); ++rank)
    list.push_back(large.chunk(rank));
  auto mine = large.empty_chunk();
  const auto given = mine;
  lab::scatter(mine, list, large.root);
  return Large::reply(Json::array({ends_of(given)}), is_same(mine, given), Large::ends_of_all(list));
}

Json gather_large(const Large& large) {
  std::vector<Tensor> list;
  for (int rank = 0; rank < dist::get_world_size() && large.is_root(); ++rank)
    list.push_back(large.empty_chunk());
  const auto mine = large.chunk(dist::get_rank());
  const auto given = list;
  lab::gather(mine, list, large.root);
  return Large::reply(Large::ends_of_all(given), true, Json::array({ends_of(mine)}));
}

Json tree_scatter_large(const Large& large) {
  Tensor all;
  const int n = dist::get_world_size();
  if (large.is_root()) all = dist::empty({n * large.elements});
  for (int rank = 0; rank < n && large.is_root(); ++rank)
    all.narrow(rank * large.elements, large.elements).fill_(static_cast<double>(large.value + rank));
  auto mine = large.empty_chunk();
  const auto given = mine;
  lab::tree_scatter(mine, all, large.root);
  Json ends = Json::array();
  for (int rank = 0; rank < n && large.is_root(); ++rank)
    for (const Json& end : ends_of(all.narrow(rank * large.elements, large.elements))) ends.push_back(end);
  return Large::reply(Json::array({ends_of(given)}), is_same(mine, given),
                      large.is_root() ? Json::array({ends}) : Json::array());
}

Json call_large(const Json& task) {
  const Large large(task);
  if (task.at("what") == "gather") return gather_large(large);
  if (task.at("what") == "tree_scatter") return tree_scatter_large(large);
  return scatter_large(large);
}

Json call(const std::string& name, const Json& round) {
  if (name == "scatter") return scatter(round);
  if (name == "gather") return gather(round);
  if (name == "scatter_rows") return scatter_rows(round);
  if (name == "tree_scatter") return tree_scatter(round);
  throw std::logic_error("no such call: " + name);
}

Json handle(const Json& task) {
  dist::init_process_group();
  if (task.at("call") == "large") return call_large(task);
  Json replies = Json::array();
  for (const auto& round : task.at("rounds")) {
    dist::sim::compute(1e-6 * round.at("delay_us").get<int>());
    replies.push_back(call(task.at("call"), round));
  }
  return replies;
}

}  // namespace

int main() {
  return judge::serve([](const Json& task) { return judge::attempt([&] { return handle(task); }); });
}
