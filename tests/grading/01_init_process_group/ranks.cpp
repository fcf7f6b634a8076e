// Lab 01, parts 1 and 3: ranks and what is computed from them.
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "judge/outcome.h"
#include "support.h"

namespace lab01 {
namespace {

struct Answer {
  int rank, local_rank, world_size;
  friend bool operator==(const Answer&, const Answer&) = default;
};

int count(const std::vector<int>& nodes, int first_nodes) {
  return std::accumulate(nodes.begin(), nodes.begin() + first_nodes, 0);
}

Answer expected(const Seat& seat) {
  return {count(seat.nodes, seat.node) + seat.local_rank, seat.local_rank,
          count(seat.nodes, static_cast<int>(seat.nodes.size()))};
}

// A wrong idea of ranks, as a formula. If the formula gives all of the answers, the submission has this idea.
struct Misconception {
  const char* name;
  const char* in_words;
  std::function<int(const Seat&)> rank;
};

const std::vector<Misconception>& misconceptions() {
  static const std::vector<Misconception> known{
      {"local_rank_as_rank",
       "the local rank counts the processes of one node only, so several processes call themselves rank 0; "
       "fix: add the processes on the nodes before this one",
       [](const Seat& s) { return s.local_rank; }},
      {"node_and_local_rank_swapped",
       "node and local rank are swapped: ranks are numbered node by node; they are not dealt to the nodes in "
       "turn; fix: first count all processes of the nodes before this one",
       [](const Seat& s) { return s.local_rank * static_cast<int>(s.nodes.size()) + s.node; }},
      {"assumes_even_nodes",
       "node x (processes per node) + local rank holds only if all nodes run equally many processes; fix: "
       "add up the processes of the nodes before this one",
       [](const Seat& s) { return s.node * s.nodes[static_cast<std::size_t>(s.node)] + s.local_rank; }},
      {"assumes_even_nodes",
       "node x (processes of the first node) + local rank holds only if all nodes run equally many "
       "processes; fix: add up the processes of the nodes before this one",
       [](const Seat& s) { return s.node * s.nodes[0] + s.local_rank; }}};
  return known;
}

// Formulas for ranks. Where these ranks are right, something else is wrong.
void diagnose(const std::vector<Seat>& cases, const std::vector<Answer>& answers) {
  bool right = true;
  for (std::size_t i = 0; i < cases.size(); ++i) right = right && answers[i].rank == expected(cases[i]).rank;
  if (right) return;
  for (const auto& one : misconceptions()) {
    bool fits = true;
    for (std::size_t i = 0; i < cases.size(); ++i) fits = fits && answers[i].rank == one.rank(cases[i]);
    if (fits) return judge::misconception(one.name, one.in_words);
  }
}

Json to_json(const std::vector<Seat>& cases) {
  Json all = Json::array();
  for (const auto& [nodes, node, local_rank] : cases) {
    all.push_back({{"nodes", nodes}, {"node", node}, {"local_rank", local_rank}});
  }
  return all;
}

std::string device(int index, int gpus) { return gpus == 0 ? "cpu" : fmt::format("cuda:{}", index); }

}  // namespace

std::vector<Seat> places_of(const std::vector<int>& nodes) {
  std::vector<Seat> cases;
  for (int node = 0; node < static_cast<int>(nodes.size()); ++node) {
    for (int local = 0; local < nodes[static_cast<std::size_t>(node)]; ++local)
      cases.push_back({nodes, node, local});
  }
  return cases;
}

Json ask_one(const Json& task) {
  judge::Team team(judge::runner(), 1);
  team.start(0, task);
  const auto outcomes = team.finish();
  if (!judge::all_completed(outcomes)) return Json::array();
  const auto& answers = outcomes[0].reply;
  if (answers.is_array() && answers.size() == task.at("cases").size()) return answers;
  ADD_FAILURE() << "the process did not return a result for every case";
  return Json::array();
}

void expect_places(const std::vector<Seat>& cases) {
  const auto replies = ask_one({{"call", "place_of"}, {"cases", to_json(cases)}});
  std::vector<Answer> answers;
  for (const auto& reply : replies) {
    const auto value = judge::value_of(reply, "place_of");
    if (value.is_null()) return;
    answers.push_back({value.at("rank"), value.at("local_rank"), value.at("world_size")});
  }
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i] == expected(cases[i])) continue;
    diagnose(cases, answers);
    const auto& [nodes, node, local_rank] = cases[i];
    const auto [rank, local, world] = expected(cases[i]);
    ADD_FAILURE() << fmt::format(
        "nodes that run {{{}}} processes: node {}, local rank {} is rank {} (local rank {}) of {}; place_of "
        "returned rank {} (local rank {}) of {}",
        fmt::join(nodes, ", "), node, local_rank, rank, local, world, answers[i].rank, answers[i].local_rank,
        answers[i].world_size);
    return;  // the first difference is enough
  }
}

void expect_refused(const std::vector<Seat>& cases) {
  const auto answers = ask_one({{"call", "place_of"}, {"cases", to_json(cases)}});
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto& [nodes, node, local_rank] = cases[i];
    const auto question =
        fmt::format("place_of({{{}}}, node {}, local rank {})", fmt::join(nodes, ", "), node, local_rank);
    judge::error_of(answers[i], "invalid_argument", question,
                    "Error{invalid_argument}, because there is no such process");
  }
}

void expect_descriptions(judge::Random& random) {
  struct Case {
    int pid, gpus, rank, local_rank;
    std::string host;
  };
  std::vector<Case> cases;
  Json questions = Json::array();
  const int offset = random.between(3, 9) * 2 + 1;  // odd, so that rank and local rank differ modulo 2 and 4
  for (const int gpus : {0, 1, 2, 4, 8}) {
    for (const int local : {0, 1, 5, 7}) {
      cases.push_back({random.between(2, 99999), gpus, offset + local, local, "node-" + random.word(5)});
      const auto& one = cases.back();
      questions.push_back(
          {{"pid", one.pid},
           {"host", one.host},
           {"gpus", gpus},
           {"place", {{"rank", one.rank}, {"local_rank", local}, {"world_size", one.rank + 4}}}});
    }
  }
  const auto replies = ask_one({{"call", "describe"}, {"cases", questions}});
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const auto& one = cases[i];
    const auto value = judge::value_of(replies[i], "describe");
    if (value.is_null()) return;
    const auto text = judge::from_hex(value.get<std::string>());
    const auto line = [&](int index) {
      return fmt::format("pid {} on {}, {}", one.pid, one.host, device(index, one.gpus));
    };
    const int turn = one.gpus == 0 ? 0 : one.local_rank % one.gpus;
    if (text == line(turn)) continue;
    if (text == line(one.rank) || (one.gpus > 0 && text == line(one.rank % one.gpus))) {
      judge::misconception("gpu_by_global_rank",
                           "the GPU is chosen by the global rank: on every node except the first this names "
                           "a GPU that the host does not have, or the wrong one; fix: use the local rank, "
                           "because a host's GPUs are numbered from 0, too");
    } else if (text == line(one.local_rank)) {
      judge::misconception("no_gpu_for_everybody",
                           "with more processes than GPUs, some processes get a GPU that the host does not "
                           "have; fix: let the processes take the GPUs in turn");
    }
    ADD_FAILURE() << fmt::format(
        "rank {} (local rank {}) on a host with {} GPUs must be {}; describe returned {}", one.rank,
        one.local_rank, one.gpus, judge::shown(line(turn)), judge::shown(text));
    return;
  }
}

}  // namespace lab01
