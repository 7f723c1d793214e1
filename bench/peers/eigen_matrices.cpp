// Eigen 3.4: functions of matrices, each as its documentation writes it, on one thread. Sums of rows and columns are
// products with ones.
#include "peers.h"
#include <Eigen/SparseCore>
#include <new>

namespace {

using csr_matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;
using dense_vector = Eigen::VectorXd;
using order = Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int>;

Eigen::Map<const csr_matrix> view_of(const lsp_csr &A) {
    return {A.rows,
            A.cols,
            A.nnz,
            static_cast<const int *>(A.rowptr),
            static_cast<const int *>(A.col),
            static_cast<const double *>(A.val)};
}

struct task {
    peer_matrices_job job;
    csr_matrix A, B, C;
    order rows, cols; // rows * A and A * cols are what `list` asks for
    dense_vector out;
};

order order_of(const peer_matrices_job &job, bool of_rows) {
    order permuted(job.A->rows);
    for (int i = 0; i < permuted.size(); i++) {
        permuted.indices()(of_rows ? job.list[i] : i) = of_rows ? i : job.list[i];
    }
    return permuted;
}

void *prepare_function(const peer_matrices_job *job) try {
    Eigen::setNbThreads(1);
    auto *t = new task{*job, view_of(*job->A), {}, {}, {}, {}, {}};
    if (job->B) {
        t->B = view_of(*job->B);
    }
    if (job->function == PEER_EXTRACT_ROWS) {
        t->rows = order_of(*job, true);
    }
    if (job->function == PEER_EXTRACT_COLS) {
        t->cols = order_of(*job, false);
    }
    return t;
} catch (const std::bad_alloc &) {
    return nullptr;
}

void compute(task &t) {
    const csr_matrix &A = t.A, &B = t.B;
    const peer_matrices_job &job = t.job;
    switch (job.function) {
    case PEER_ADD:
    case PEER_ADD_TRANSPOSED:
        t.C = A + B;
        break;
    case PEER_HADAMARD:
        t.C = A.cwiseProduct(B);
        break;
    case PEER_REDUCE_ROWS:
        t.out = A * dense_vector::Ones(A.cols());
        break;
    case PEER_REDUCE_COLS:
        t.out = A.transpose() * dense_vector::Ones(A.rows());
        break;
    case PEER_REDUCE_ALL:
        t.out = dense_vector::Constant(1, A.sum());
        break;
    case PEER_SCALE:
        t.C = Eigen::Map<const dense_vector>(job.rows, A.rows()).asDiagonal() * A *
              Eigen::Map<const dense_vector>(job.cols, A.cols()).asDiagonal();
        break;
    case PEER_DIAGONAL:
        t.out = A.diagonal();
        break;
    case PEER_EXTRACT_ROWS:
        t.C = t.rows * A;
        break;
    case PEER_EXTRACT_COLS:
        t.C = A * t.cols;
        break;
    case PEER_BLOCK:
        t.C = A.block(A.rows() / 4, A.cols() / 4, A.rows() / 2, A.cols() / 2);
        break;
    case PEER_TRIANGLE:
        t.C = A.triangularView<Eigen::Lower>();
        break;
    case PEER_TRANSPOSE:
        t.C = A.transpose();
        break;
    case PEER_FUNCTIONS:
        break;
    }
}

bool run_function(void *self) try {
    compute(*static_cast<task *>(self));
    return true;
} catch (const std::bad_alloc &) {
    return false;
}

void view(void *self, lsp_csr *C, const double **out) {
    task &t = *static_cast<task *>(self);
    *out = t.out.size() > 0 ? t.out.data() : nullptr;
    *C = lsp_csr{
        t.C.rows(), t.C.cols(), t.C.nonZeros(), t.C.outerIndexPtr(), t.C.innerIndexPtr(), t.C.valuePtr(), LSP_I32,
        LSP_I32,    LSP_F64,    LSP_HOST};
}

void release_result(void *self) {
    task &t = *static_cast<task *>(self);
    csr_matrix().swap(t.C);
    dense_vector().swap(t.out);
}

void destroy(void *self) { delete static_cast<task *>(self); }

} // namespace

extern "C" const peer_matrices peer_eigen_matrices = {
    false,
    prepare_function,
    run_function,
    view,
    release_result,
    destroy,
    "Eigen " PEER_VERSION(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)};
