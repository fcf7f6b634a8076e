#!/usr/bin/env bash
# Slurm with two nodes: srun, two steps at once, a killed rank, a shell, and a job that the end of its time stops and that
# continues with the weights of one that was not stopped.
# Usage: slurm.sh PROGRAM DISTLAB (same_program, distlab). Exit status 77: something is missing here.
set -uo pipefail
distlab=$2
# shellcheck source=tests/integration/engines/nodes.sh
source "${BASH_SOURCE[0]%/*}/nodes.sh"
ln -s "$1" "$work/program" # so that its ranks have a name of their own among those of other tests
program=$work/program
needs srun slurm-wlm
needs slurmctld slurm-wlm
needs munged munge
export DIST_TIMEOUT=60 SLURM_CONF=$work/slurm.conf

mkdir -p "$work/run" "$work/state"
chmod 711 "$work/run"
head -c 1024 /dev/urandom > "$work/munge.key"
chmod 400 "$work/munge.key"
echo CgroupPlugin=cgroup/v1 > "$work/cgroup.conf"
cat > "$SLURM_CONF" << CONF
ClusterName=test
SlurmctldHost=nodea
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/run/munge.socket
CryptoType=crypto/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SlurmdParameters=config_overrides
ReturnToService=2
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool-%h
SlurmctldPidFile=$work/run/slurmctld.pid
SlurmdPidFile=$work/run/slurmd-%h.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd-%h.log
MpiDefault=none
KillWait=5
JobRequeue=1
NodeName=nodea,nodeb CPUs=8 State=UNKNOWN
PartitionName=p Nodes=nodea,nodeb Default=YES MaxTime=INFINITE State=UP
CONF
munged --force --foreground --key-file="$work/munge.key" --socket="$work/run/munge.socket" \
  --pid-file="$work/run/munged.pid" --log-file="$work/munged.log" --seed-file="$work/run/seed" > /dev/null 2>&1 &
for _ in $(seq 50); do [ -S "$work/run/munge.socket" ] && break; sleep 0.1; done
on nodea slurmctld -D > /dev/null 2>&1 &
on nodea slurmd -D -N nodea > /dev/null 2>&1 &
on nodeb slurmd -D -N nodeb > /dev/null 2>&1 &
for _ in $(seq 150); do on nodea sinfo -h 2> /dev/null | grep -q ' 2 *idle ' && break; sleep 0.2; done
on nodea sinfo -h | grep -q ' 2 *idle ' || { echo "Slurm does not start here:"; tail -n 5 "$work"/slurm*.log; exit 1; }

slurm() { on nodea timeout 90 "$@"; }
slurm srun -N2 --ntasks-per-node=2 "$program" > "$work/out" 2>&1
expect "srun on two nodes" $? 0 "$work/out" "all 4 ranks agree"
slurm srun -N1 -n3 --mpi=pmi2 "$program" > "$work/out" 2>&1
expect "srun on one node, with PMI's variables" $? 0 "$work/out" "all 3 ranks agree"
slurm srun -n1 "$distlab" train --nproc 2 --epochs 1 --samples 64 --test-samples 20 > "$work/out" 2>&1
expect "a step of one task starts its own ranks" $? 0 "$work/out" "epoch 1 of 1"
slurm srun -N2 -n2 "$distlab" train --nproc 3 --epochs 1 --samples 64 --test-samples 20 > "$work/out" 2>&1
expect "train under srun" $? 0 "$work/out" "srun decides: this is rank 0 of 2 ranks, and --nproc 3 is ignored"

slurm srun -N2 --ntasks-per-node=2 "$program" stay > "$work/out" 2>&1 &
expect_death "$program" 4 "$work/out" $! " died"

# A job that is told to end a minute before its time, and is queued again.
train=("$distlab" train --samples 12800 --test-samples 20 --batch-size 16 --epochs 3 --resume --checkpoint)
slurm srun -N2 -n2 "${train[@]}" "$work/whole" > "$work/out" 2>&1
expect "a whole run" $? 0 "$work/out" "epoch 3 of 3"
slurm srun -N2 -n2 --job-name=part "${train[@]}" "$work/part" > "$work/out" 2>&1 &
job=$!
for _ in $(seq 600); do [ -e "$work/part" ] && break; sleep 0.05; done
on nodea scancel --signal=TERM "$(on nodea squeue -h -n part -o %i).0"
wait "$job"
expect "a job that gets SIGTERM" $? 143 "$work/out" "the run ends after step" "--resume continues it"
slurm srun -N2 -n2 "${train[@]}" "$work/part" > "$work/out" 2>&1
expect "the job that continues" $? 0 "$work/out" "of the next, from" "epoch 3 of 3"
cmp "$work/whole" "$work/part" || failures=$((failures + 1))
exit $((failures > 0))
