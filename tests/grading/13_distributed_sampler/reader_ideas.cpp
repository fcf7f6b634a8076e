// Lab 13: what the readers of a stream would take, were a wrong idea right.
#include <functional>

#include "ideas.h"

namespace lab13 {
namespace {

struct ReaderIdea {
  const char* name;
  const char* in_words;
  std::function<bool(const Reading&, int rank, int worker, std::int64_t c)> takes;  // the sample number c
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
       "every worker of a rank takes all samples of the rank, so that each is loaded several times: the "
       "rank's "
       "workers share them",
       [](R r, int rank, int, std::int64_t c) { return c % r.ranks == rank; }},
      {"ranks_ignored",
       "the samples are shared among the workers of one rank only: every rank reads all of them",
       [](R r, int, int worker, std::int64_t c) { return c % r.workers == worker; }},
      {"the_rest_of_the_stream", rest_in_words,
       [](R r, int rank, int worker, std::int64_t c) { return is_dealt(r, rank, worker, c); }},
      {"drops_too_much",
       "the stream is cut to whole turns of all workers: whole rounds, one sample for each rank, are enough "
       "for "
       "the ranks to agree",
       [](R r, int rank, int worker, std::int64_t c) {
         return is_dealt(r, rank, worker, c) && is_whole(r, c, std::int64_t{r.ranks} * r.workers);
       }},
      {"workers_before_ranks",
       "the first samples all go to the workers of rank 0, the next ones to those of rank 1: where the "
       "stream "
       "ends the first ranks have more. Deal to the ranks first, and within a rank to the workers",
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
          said.push_back(asked.first + c);
      }
      fits = got[static_cast<std::size_t>(reader)] == said;
    }
    if (fits) return judge::misconception(idea.name, idea.in_words);
  }
}

}  // namespace lab13
