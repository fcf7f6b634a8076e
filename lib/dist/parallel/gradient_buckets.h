// The gradients of a model, a bucket at a time: each bucket's communication starts as soon as its last
// gradient is there and those of all earlier buckets have started, while backward goes on.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "dist/core/deadline.h"
#include "dist/nn/parameter.h"
#include "dist/parallel/comm_hook.h"

namespace dist {

// Belongs to one rank's training thread. The parameters live longer than this.
class GradientBuckets {
 public:
  // `where`: for messages about what the hook calls.
  GradientBuckets(std::vector<nn::NamedParameter> parameters, ProcessGroup group, CommHook hook,
                  CallSite where);
  ~GradientBuckets();  // nobody is told of gradients any more; they stay where they are
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  // Indices of parameters, a list for each bucket, in the order in which buckets start. Moves all gradients,
  // as they are, into the memory of their buckets.
  using Assignment = std::vector<std::vector<std::size_t>>;
  void arrange(Assignment assignment);
  const Assignment& assignment() const { return assignment_; }
  const std::vector<nn::NamedParameter>& parameters() const { return parameters_; }

  // A backward in which gradients are exchanged: begin(), then each parameter tells that it is ready, then
  // finish(), after which all gradients are the averages.
  void begin();
  // It failed, and its error is on its way through the caller: what comes until the next begin() stays here.
  void abandon();
  // Whether every parameter still tells this of its gradient: a later one may have taken it over.
  bool is_told() const;
  // Parameters that have not been ready in this backward.
  std::vector<std::size_t> missing() const;
  // Of all ranks, after everything that is ready: the gradients of these go along as they are. What no rank
  // had ready is as it was after finish().
  void give_up_on(const std::vector<std::size_t>& missing);
  // Waits for what has been started; Error of the communication.
  void finish();

  // Parameters in the order in which they were ready in the last such backward.
  const std::vector<std::size_t>& ready_order() const { return ready_order_; }
  // How long finish() waited: communication that backward did not hide.
  Timeout exposed() const { return exposed_; }

 private:
  struct Bucket {
    Tensor gradients;
    std::size_t parameters = 0;
    std::size_t pending = 0;  // gradients that are not there yet
  };
  // What a parameter is given to call.
  struct Told {
    GradientBuckets* buckets;
    std::size_t parameter;
    void operator()() const { buckets->on_ready(parameter); }
  };
  void on_ready(std::size_t parameter);
  void count_in(std::size_t parameter);

  std::vector<nn::NamedParameter> parameters_;
  ProcessGroup group_;
  CommHook hook_;
  const CallSite where_;
  Assignment assignment_;
  std::vector<Bucket> buckets_;
  std::vector<std::size_t> bucket_of_;  // each parameter's
  std::vector<Tensor> places_;          // where its gradient is, in its bucket

  bool is_under_way_ = false;
  std::vector<bool> is_ready_;
  std::vector<std::size_t> ready_order_;
  std::vector<std::function<void()>> started_;  // how to finish each bucket, in order
  std::vector<std::pair<std::size_t, Tensor>>
      left_out_;  // parameters that this rank has not used, as they were
  Tensor users_;  // how many ranks have used each parameter
  Timeout exposed_{};
};

}  // namespace dist
