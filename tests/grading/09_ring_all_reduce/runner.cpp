// The process of one rank in the grading of lab 09: it calls the graded functions as the task says.
#include "dist/dist.h"

#include "judge/sum_runner.h"
#include "marks.h"
#include "ring_all_reduce.h"

namespace {

// The others take no segment.
judge::SumFunction plain(void (*call)(dist::Tensor&)) {
  return [call](dist::Tensor& data, std::int64_t) { call(data); };
}

// The same while a message of the program around the call is under way from each rank to the second rank
// after it, with which a ring of four ranks or more does not connect it.
judge::SumFunction beside(const judge::SumFunction& call) {
  return [call](dist::Tensor& data, std::int64_t segment) {
    const int rank = dist::get_rank(), n = dist::get_world_size();
    const dist::Tensor ours = dist::full({1009}, rank);
    dist::Tensor theirs = dist::empty({1009});
    dist::Work leaving = dist::isend(ours, (rank + 2) % n);
    dist::sim::compute(1e-4);  // meanwhile all of them have been sent
    call(data, segment);
    dist::recv(theirs, (rank + n - 2) % n);
    leaving.wait();
  };
}

// The same with marks, which are taken away again afterwards.
judge::SumFunction marked(const judge::SumFunction& call) {
  return [call](dist::Tensor& data, std::int64_t segment) {
    const auto add_marks = [&](int times) {
      const auto numbers = data.data<float>();
      for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] += static_cast<float>(times * lab09::mark * (static_cast<std::int64_t>(i) / segment));
    };
    add_marks(1);
    call(data, segment);
    add_marks(-dist::get_world_size());
  };
}

}  // namespace

int main() {
  std::map<std::string, judge::SumFunction> calls{{"reduce_scatter", plain(lab::reduce_scatter)},
                                                  {"all_gather", plain(lab::all_gather)},
                                                  {"ring_all_reduce", plain(lab::ring_all_reduce)},
                                                  {"all_reduce_pipelined", lab::all_reduce_pipelined}};
  for (const auto& [name, call] : std::map(calls)) calls[name + " beside other messages"] = beside(call);
  calls[std::string("all_reduce_pipelined") + lab09::with_marks] = marked(lab::all_reduce_pipelined);
  return judge::serve_sums(calls);
}
