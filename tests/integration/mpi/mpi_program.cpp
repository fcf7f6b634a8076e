// What mpi_test.cpp starts with mpirun: one rank of a job on the mpi backend. The argument says what it does;
// what is wrong is printed and makes the exit code 1.
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "dist/dist.h"

#include "integration/sweep/checks.h"

namespace {

using namespace dist;
using namespace std::chrono_literals;

void expect(bool condition, std::string_view what) {
  if (!condition) throw std::runtime_error(fmt::format("rank {}: wrong: {}", get_rank(), what));
}

// `part` must be in the text of the Error{code} that f throws.
void expect_error(Errc code, std::string_view part, const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    const std::string text = error.what();
    expect(
        error.code() == code && text.find(part) != std::string::npos && text.find('\n') == std::string::npos,
        fmt::format("the error \"{}\" is not {} with \"{}\"", text, name(code), part));
    return;
  }
  expect(false, fmt::format("no error, where {} was expected", name(code)));
}

void join(Timeout timeout = 50s) { init_process_group({.backend = "mpi", .timeout = timeout}); }

// Everything, on the whole world. Tensors of many elements take time, and not every number of ranks needs
// them.
void sweep_all() {
  join();
  expect(get_backend() == "mpi", "get_backend()");
  const int n = get_world_size();
  std::vector<std::int64_t> sizes{0, 1, 3, 17, 1000};
  if (n <= 3 || n == 8) sizes.push_back(65537);
  sweep::check_all({}, sizes);
  destroy_process_group();
}

// Sums of small numbers wrap around, however many elements there are: MPI's own vector instructions saturate.
void sums_wrap_around() {
  join();
  const int n = get_world_size();
  for (const std::int64_t count : {4, 64, 1000}) {
    Tensor u = full({count}, 200, DType::u8), i = full({count}, 100, DType::i8);
    all_reduce(u);
    all_reduce(i);
    for (const auto element : u.to_vector<std::uint8_t>())
      expect(element == static_cast<std::uint8_t>(200 * n),
             fmt::format("{} elements of u8: {}", count, element));
    for (const auto element : i.to_vector<std::int8_t>())
      expect(element == static_cast<std::int8_t>(100 * n),
             fmt::format("{} elements of i8: {}", count, element));
  }
  destroy_process_group();
}

// The same with fewer elements, by asynchronous operations, and on groups of some ranks in another order.
void sweep_groups() {
  join();
  const int rank = get_rank(), n = get_world_size();
  sweep::check_all({.async_op = true}, {0, 17, 1000});
  std::vector<int> backwards, even;
  for (int r = n - 1; r >= 0; --r) {
    backwards.push_back(r);
    if (r % 2 == 0) even.push_back(r);
  }
  const ProcessGroup all = new_group(backwards), some = new_group(even);
  sweep::check_all({.group = all}, {0, 3, 1000});
  if (rank % 2 == 0) sweep::check_all({.group = some}, {1, 17});
  sweep::check_all({.group = split_group(rank % 3, -rank), .async_op = true}, {17});
  destroy_process_group(all);
  barrier();
  destroy_process_group();
}

// Several collectives at once run in their order; messages overtake them; the program goes on in the
// meantime.
void overlap() {
  join();
  const int rank = get_rank(), n = get_world_size();
  std::vector<Tensor> tensors;
  std::vector<Work> works;
  for (int i = 0; i < 20; ++i) {
    tensors.push_back(full({100'000}, i));
    works.push_back(all_reduce(tensors.back(), i % 2 ? ReduceOp::sum : ReduceOp::max, {.async_op = true}));
  }
  Tensor in = zeros({300'000});
  const Tensor out = full({300'000}, rank);
  Work got = irecv(in, (rank + n - 1) % n);
  Work put = isend(out, (rank + 1) % n);
  barrier();  // behind all of them
  for (Work& work : works) expect(work.is_completed(), "a barrier came before what was issued first");
  for (int i = 0; i < 20; ++i)
    expect(equal(tensors[static_cast<std::size_t>(i)], full({100'000}, i % 2 ? i * n : i)), "all_reduce");
  // No rank waits for the message, and new_group is not a call of MPI: the message moves anyway.
  new_group({0});
  got.wait();
  put.wait();
  expect(got.source_rank() == (rank + n - 1) % n && equal(in, full({300'000}, got.source_rank())), "irecv");
  Tensor of_the_caller = full({5}, 1);
  {
    Tensor gone = of_the_caller;
    all_reduce(gone, ReduceOp::avg, {.async_op = true}).wait();
  }
  expect(equal(of_the_caller, full({5}, 1)), "avg of ones");
  destroy_process_group();
}

// In-place forms, and lists whose tensors are not adjacent.
void memory() {
  join();
  const int rank = get_rank(), n = get_world_size();
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  std::vector<Tensor> parts = zeros({n * 10}).chunk(n);
  parts[at(rank)].fill_(rank);
  all_gather(parts, parts[at(rank)]);
  for (int r = 0; r < n; ++r) expect(equal(parts[at(r)], full({10}, r)), "all_gather in place");
  for (int root = 0; root < n; ++root) {
    std::vector<Tensor> none;
    Tensor mine = full({10}, rank + 1);
    rank == root ? gather(parts[at(rank)].fill_(rank + 1), parts, root) : gather(mine, none, root);
    if (rank == root)
      for (int r = 0; r < n; ++r) expect(equal(parts[at(r)], full({10}, r + 1)), "gather in place");
    rank == root ? scatter(parts[at(rank)], parts, root) : scatter(mine, none, root);
    expect(equal(rank == root ? parts[at(rank)] : mine, full({10}, rank + 1)), "scatter in place");
  }
  std::vector<Tensor> apart;  // every second row, of different lengths
  const Tensor wide = zeros({2 * n, 4});
  for (int r = 0; r < n; ++r) apart.push_back(wide[2 * r].narrow(0, r % 4));
  all_gather(apart, full({rank % 4}, rank));
  for (int r = 0; r < n; ++r) {
    expect(equal(apart[at(r)], full({r % 4}, r)), "all_gather of rows");
    expect(equal(wide[2 * r + 1], zeros({4})), "what lies between the rows");
  }
  Tensor sum = apart[at(rank)];
  reduce_scatter(sum, apart);
  expect(equal(sum, full({rank % 4}, rank * n)), "reduce_scatter in place");
  destroy_process_group();
}

void refusals() {
  join();
  const int rank = get_rank();
  Tensor t = full({8}, rank);
  expect_error(Errc::invalid_argument, "leaves the algorithm to MPI",
               [&] { all_reduce(t, ReduceOp::sum, {.algorithm = "ring"}); });
  all_reduce(t, ReduceOp::sum, {.algorithm = "mpi"});
  expect_error(Errc::unsupported, "highest tag of MPI",
               [&] { send(t, 1 - rank, {.tag = std::uint64_t{1} << 40}); });
  expect_error(Errc::unsupported, "highest tag of MPI",
               [&] { isend(t, 1 - rank, {.tag = std::uint64_t{1} << 40}).wait(); });
  const auto message = [&](std::int64_t sent, std::int64_t taken, std::string_view part) {
    Tensor small = zeros({taken});
    if (rank == 0) send(zeros({sent}), 1);
    if (rank == 1) expect_error(Errc::mismatch, part, [&] { recv(small, 0); });
  };
  message(2, 5, "recv #2 (5 f32) expects 20 bytes from rank 0, which sent 8;");
  message(7, 3, "recv #3 (3 f32) expects 12 bytes from rank 0, which sent more;");
  barrier();
  destroy_process_group();
}

// Messages that do not come: MPI can cancel a receive, so everything goes on.
void receive_timeouts() {
  join();
  const int rank = get_rank();
  Tensor t = full({4}, 7);
  if (rank == 0) {
    expect_error(Errc::timeout, "ms; has that rank sent it, in this group and with this tag?",
                 [&] { recv(t, 1, {.timeout = 200ms}); });
    expect_error(Errc::timeout, "recv #1 (4 f32): no rank sent it within ",
                 [&] { recv(t, {.timeout = 100ms}); });
    Work work = irecv(t, 1, {.tag = 5});
    expect_error(Errc::timeout, "wait() for recv #2 (4 f32)", [&] { work.wait(100ms); });
    expect(!work.is_completed(), "is_completed()");
    barrier();
    work.wait();
    expect(equal(t, full({4}, 7)), "the message after the timeouts");
    irecv(t, 1, {.tag = 6});  // for finish() to give up
  } else {
    barrier();
    send(t, 0, {.tag = 5});
  }
  destroy_process_group();
}

// Rank 1 never makes the call: MPI still owns the memory, so the group is broken, and says so.
void collective_timeout() {
  join();
  if (get_rank() == 0) {
    Tensor t = zeros({100});
    expect_error(Errc::timeout, "rank 0: mpi_all_reduce #0 (100 f32) did not end within ",
                 [&] { all_reduce(t, ReduceOp::sum, {.timeout = 300ms}); });
    expect_error(Errc::aborted, "an earlier collective of this group failed", [] { barrier(); });
    fmt::print("rank 0 was told\n");
    std::fflush(stdout);
  } else {
    dist::sleep(1s);
  }
}

// Rank 1 leaves in the regular way, and rank 0 still waits for something from it.
void leaver(bool sends) {
  join();
  Tensor t = zeros({1000});
  if (get_rank() == 0) {
    const auto start = Clock::now();
    if (sends)
      expect_error(Errc::peer_failed, "rank 1, which has not received it, died or left", [&] { send(t, 1); });
    else
      expect_error(Errc::peer_failed, "rank 1 has left the job", [&] { recv(t, 1); });
    expect(Clock::now() - start < 4s, "it took too long to notice");
    fmt::print("rank 0 was told\n");
    std::fflush(stdout);
  }
  destroy_process_group();
}

// What an error of one rank does to the others, which wait for it.
void failure() {
  join();
  if (get_rank() == 1) throw std::runtime_error("rank 1: something of its own");
  barrier();
}

void disagreement() {
  const bool is_odd = std::string(std::getenv("OMPI_COMM_WORLD_RANK")) == "1";
  try {
    init_process_group({.backend = is_odd ? "host" : "mpi", .timeout = 20s});
  } catch (const Error& error) {
    fmt::print("{}\n", error.what());
    std::fflush(stdout);
    throw;
  }
}

// Many messages wait for their receiver, which takes all of them and leaves: every send has succeeded.
void many_isends() {
  join();
  constexpr int count = 3000;
  Tensor t = ones({4});
  std::vector<Work> works;
  for (int i = 0; i < count && get_rank() == 1; ++i) works.push_back(isend(t, 0));
  barrier();  // they are all there when the receives begin
  for (int i = 0; i < count && get_rank() == 0; ++i) recv(t, 1);
  for (Work& work : works) work.wait();
  destroy_process_group();
}

// Rank 1 passes more elements than the others.
void sizes() {
  join(10s);
  Tensor t = ones({get_rank() == 1 ? 200 : 100});
  all_reduce(t);
}

const std::map<std::string, std::function<void()>> deeds{
    {"many_isends", many_isends},
    {"sizes", sizes},
    {"sweep", sweep_all},
    {"groups", sweep_groups},
    {"small_sums", sums_wrap_around},
    {"overlap", overlap},
    {"memory", memory},
    {"refusals", refusals},
    {"receive_timeouts", receive_timeouts},
    {"collective_timeout", collective_timeout},
    {"leaver_recv", [] { leaver(false); }},
    {"leaver_send", [] { leaver(true); }},
    {"failure", failure},
    {"disagreement", disagreement},
    {"threads",
     [] {
       spawn(
           2, [](int) { join(10s); }, Ranks::threads);
     }},
};

}  // namespace

int main(int, char** argv) {
  try {
    deeds.at(argv[1])();
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
