// Lab 13: what the readers of a stream would take if a wrong idea were right.
#include <functional>

#include "ideas.h"

namespace lab13 {
namespace {

struct ReaderIdea {
  const char* name;
  const char* in_words;
  std::function<bool(const Reading&, int rank, int worker, std::int64_t c)> takes;  // of sample number c
};

bool is_whole(const Reading& r, std::int64_t c, std::int64_t unit) {
  return (c / unit + 1) * unit <= r.samples;
}

bool is_dealt(const Reading& r, int rank, int worker, std::int64_t c) {
  return c % r.ranks == rank && c / r.ranks % r.workers == worker;
}

const std::vector<ReaderIdea>& reader_ideas() {
  using R = const Reading&;
  static const std::vector<ReaderIdea> known{
      {"starved_workers", starved_in_words,
       [](R r, int rank, int worker, std::int64_t c) {
         return c % r.ranks == rank && c % r.workers == worker;
       }},
      {"starved_workers", starved_in_words,
       [](R r, int rank, int worker, std::int64_t c) {
         return (c + 1) % r.ranks == rank && (c + 1) % r.workers == worker;
       }},
      {"workers_ignored",
       "every worker of a rank takes all samples of the rank, so each sample is loaded several times; fix: "
       "divide the rank's samples among its workers",
       [](R r, int rank, int, std::int64_t c) { return c % r.ranks == rank; }},
      {"ranks_ignored",
       "the samples are divided among the workers of a rank only, so every rank reads all of them; fix: "
       "divide them among the ranks first",
       [](R r, int, int worker, std::int64_t c) { return c % r.workers == worker; }},
      {"the_rest_of_the_stream", rest_in_words,
       [](R r, int rank, int worker, std::int64_t c) { return is_dealt(r, rank, worker, c); }},
      {"drops_too_much",
       "the stream is cut to whole turns of all workers; fix: cut it to whole rounds of one sample per rank, "
       "which is enough for the ranks to agree",
       [](R r, int rank, int worker, std::int64_t c) {
         return is_dealt(r, rank, worker, c) && is_whole(r, c, std::int64_t{r.ranks} * r.workers);
       }},
      {"workers_before_ranks",
       "the first samples all go to the workers of rank 0, the next ones to those of rank 1, so the first "
       "ranks have more when the stream ends; fix: deal to the ranks first, then within a rank to its "
       "workers",
       [](R r, int rank, int worker, std::int64_t c) {
         return c % (std::int64_t{r.ranks} * r.workers) == std::int64_t{rank} * r.workers + worker;
       }}};
  return known;
}

}  // namespace

void diagnose(const Reading& asked, const Shares& got) {
  for (const auto& idea : reader_ideas()) {
    bool fits = true;
    for (int reader = 0; fits && reader < asked.ranks * asked.workers; ++reader) {
      Indices said;
      for (std::int64_t c = 0; c < asked.samples; ++c) {
        if (idea.takes(asked, reader / asked.workers, reader % asked.workers, c))
          said.push_back(asked.sample(c));
      }
      fits = got[static_cast<std::size_t>(reader)] == said;
    }
    if (fits) return judge::misconception(idea.name, idea.in_words);
  }
}

}  // namespace lab13
