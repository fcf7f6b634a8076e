// The gradients of a model, bucket by bucket: each bucket's communication starts as soon as its last gradient
// is ready and all earlier buckets have started, while backward goes on.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dist/core/deadline.h"
#include "dist/nn/parameter.h"
#include "dist/parallel/comm_hook.h"
#include "dist/parallel/replicas.h"

namespace dist {

// Used by one rank's training thread. The parameters must outlive this. While a step is recorded as a graph,
// what starts and ends communication is left to each later launch of it, in the same order (Recording),
// unless it is in the graph, too.
class GradientBuckets {
 public:
  // `where` is for messages about what the hook calls.
  GradientBuckets(std::vector<nn::NamedParameter> parameters, DeviceGroups groups, CommHook hook,
                  CallSite where);
  ~GradientBuckets();  // parameters stop reporting; gradients stay where they are
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  // Moves all gradients, with their values, into the memory of buckets, which are filled in this order of the
  // parameters, and start in it; `limits` in bytes, as of assign_buckets().
  void arrange(const std::vector<std::size_t>& order, std::span<const std::size_t> limits);
  // As long as no backward has shown the order: the last parameters are expected to be ready first.
  void arrange_in_reverse(std::span<const std::size_t> limits);
  // Indices of parameters, one list per bucket, in the order in which buckets start.
  using Assignment = std::vector<std::vector<std::size_t>>;
  const Assignment& assignment() const { return assignment_; }
  const std::vector<nn::NamedParameter>& parameters() const { return parameters_; }

  // For a backward in which gradients are exchanged: begin(), then each parameter reports that it is ready,
  // then finish(), after which all gradients are the averages.
  // `in_graph`: while a step is recorded as a graph, communication becomes part of it, too.
  void begin(bool in_graph = false);
  // What the parameter with this number calls when its gradient is ready.
  void on_ready(std::size_t parameter);
  // The backward has failed, and its error is on its way to the caller: waits for what has been started, and
  // until the next begin(), nothing is sent.
  void abandon() noexcept;
  // Whether every parameter still reports to this object: a later one may have taken over.
  bool is_told() const;
  // The parameters that have not been ready in this backward.
  std::vector<std::size_t> missing() const;
  // Called on all ranks, after everything that is ready: sends the gradients of these parameters as they are.
  // A gradient that no rank had ready has its old value after finish().
  void give_up_on(const std::vector<std::size_t>& missing);
  // Waits for what has been started. Throws the errors of the communication.
  void finish();

  // The parameters in the order in which they were ready in the last such backward.
  const std::vector<std::size_t>& ready_order() const { return ready_order_; }
  // How long finish() waited: the communication that backward did not hide.
  Timeout exposed() const { return exposed_; }

 private:
  struct Bucket {
    Tensor gradients;
    std::size_t parameters = 0;
    std::size_t pending = 0;  // gradients that are not ready yet
  };
  Assignment assigned(const std::vector<std::size_t>& order, std::span<const std::size_t> limits) const;
  void arrange(Assignment assignment);
  void count_in(std::size_t parameter);
  void start(std::size_t bucket);
  void wait_for_started();
  void start_counting_users(const std::vector<std::size_t>& missing);
  void restore_left_out();

  std::vector<nn::NamedParameter> parameters_;
  DeviceGroups groups_;
  CommHook hook_;
  const CallSite where_;
  Assignment assignment_;
  std::vector<Bucket> buckets_;
  std::vector<std::size_t> bucket_of_;  // by parameter
  std::vector<Tensor> places_;          // each gradient's place in its bucket

  bool is_under_way_ = false, in_graph_ = false;
  std::vector<bool> is_ready_;
  std::vector<bool> used_apart_;  // in backwards without an exchange since the last one with it
  std::vector<std::size_t> ready_order_;
  std::size_t next_ = 0;                        // the first bucket that is not full yet
  std::vector<std::function<void()>> started_;  // finish each bucket, in order
  // Parameters that this rank has not used, with their old values.
  std::vector<std::pair<std::size_t, Tensor>> left_out_;
  Tensor users_;  // how many ranks have used each parameter
  Timeout exposed_{};
};

}  // namespace dist
