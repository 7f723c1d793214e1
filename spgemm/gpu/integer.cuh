/* Integers in the kernels: sums and products modulo 2^64. Unsigned, because signed numbers must not overflow. */
#pragma once

#include "job.cuh"

struct integer_value {
    long long x;
};
typedef minmax<long long> minmax_integer;

template <> struct value_kind<integer_value> {
    enum { valued = 1 };
    typedef long long number;
    __device__ static integer_value nothing(const spg_job &) { return {0}; }
};
template <> struct value_kind<minmax_integer> {
    enum { valued = 1 };
    typedef long long number;
    __device__ static minmax_integer nothing(const spg_job &job) { return {job.min_plus ? INT64_MAX : INT64_MIN}; }
};

__device__ inline integer_value add_times(const spg_job &, integer_value a, integer_value b, integer_value sum) {
    return {(long long)((ull)sum.x + (ull)a.x * (ull)b.x)};
}
__device__ inline integer_value times(const spg_job &, integer_value a, integer_value b) {
    return {(long long)((ull)a.x * (ull)b.x)};
}
__device__ inline minmax_integer times(const spg_job &job, minmax_integer a, minmax_integer b) {
    return {(long long)(job.min_plus ? (ull)a.x + (ull)b.x : (ull)a.x * (ull)b.x)};
}
__device__ inline minmax_integer add_times(const spg_job &job, minmax_integer a, minmax_integer b, minmax_integer sum) {
    const minmax_integer product = times(job, a, b);
    return (job.min_plus ? product.x < sum.x : product.x > sum.x) ? product : sum;
}
__device__ inline integer_value canonical(integer_value value) { return value; }
__device__ inline minmax_integer canonical(minmax_integer value) { return value; }
